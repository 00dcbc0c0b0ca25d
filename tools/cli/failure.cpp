#include "cli/failure.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <iostream>

#include "cli/exit_code.h"
#include "cli/sagemaker_job.h"
#include "ranktune/core/error.h"
#include "ranktune/launch/error_file.h"

namespace ranktune::cli {
namespace {

/// The socket on which Hydra (MPICH, Intel MPI) listens to this rank of its job; -1: none. A launcher inside
/// the job, which has ranks of its own, decides itself.
int hydra_socket(const launch::Variables& variables) {
  const std::string text = launch::value_of(variables, "PMI_FD");
  int descriptor = -1;
  if (std::from_chars(text.data(), text.data() + text.size(), descriptor).ec != std::errc()) return -1;
  if (launch::value_of(variables, "PMI_RANK").empty() || !launch::value_of(variables, "RANK").empty())
    return -1;
  // Somebody in between may have closed it, and the number then be another file's.
  int family = 0;
  socklen_t size = sizeof family;
  const bool open = ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0;
  return open && family == AF_UNIX ? descriptor : -1;
}

/// Until somebody has read what this process wrote to a pipe; at most a second.
void wait_for_reader(int pipe) {
  constexpr int kMoments = 200, kMomentMs = 5;
  int unread = 0;
  for (int i = 0; i < kMoments && ::ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ++i)
    ::poll(nullptr, 0, kMomentMs);
}

/// As MPI_Abort does it.
void abort_hydra_job(const launch::Variables& variables, ExitCode code) {
  const int descriptor = hydra_socket(variables);
  if (descriptor < 0) return;
  wait_for_reader(STDERR_FILENO);  // the job's end takes with it what Hydra has not read
  const std::string command = "cmd=abort exitcode=" + std::to_string(static_cast<int>(code)) + "\n";
  [[maybe_unused]] const ssize_t sent = ::send(descriptor, command.data(), command.size(), MSG_NOSIGNAL);
}

}  // namespace

void report_failure(const std::string& program, const std::exception& error,
                    const launch::Variables& variables) {
  const std::string message = one_line(error);
  std::cerr << program + ": error: " + message + '\n';
  // A reason that cannot be left behind is no second error.
  if (const std::string file = launch::value_of(variables, "TORCHELASTIC_ERROR_FILE"); !file.empty())
    std::ofstream(file) << launch::error_file_text(
        {message, std::time(nullptr), static_cast<int>(exit_code_of(error)),
         dynamic_cast<const DistributedError*>(&error) != nullptr});
  write_failure_reason(variables, message);
  abort_hydra_job(variables, exit_code_of(error));
}

}  // namespace ranktune::cli
