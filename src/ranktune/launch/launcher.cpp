#include "ranktune/launch/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "ranktune/core/error.h"
#include "ranktune/launch/console_queue.h"
#include "ranktune/launch/group_watchdog.h"
#include "ranktune/launch/log_folder.h"
#include "ranktune/launch/port_holder.h"
#include "ranktune/launch/report.h"
#include "ranktune/launch/signal_source.h"
#include "ranktune/launch/supervisor.h"
#include "ranktune/launch/worker_group.h"

namespace ranktune::launch {
namespace {

/// Descriptors 0 to 2 that the caller has closed would be given to pipes, and then be replaced in a worker.
void fill_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // takes the lowest free number
}

/// While it lives, orphans of the workers become children of this process, which so learns when a group is
/// empty.
class OrphanAdoption {
 public:
  OrphanAdoption() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~OrphanAdoption() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }
  OrphanAdoption(const OrphanAdoption&) = delete;
  OrphanAdoption& operator=(const OrphanAdoption&) = delete;

 private:
  int before_ = 0;
};

std::string start_line(const LaunchPlan& plan, std::int64_t port, const Variables& variables) {
  const std::string threads = value_of(variables, "OMP_NUM_THREADS");
  const std::int64_t first = plan.rank(0), last = plan.rank(plan.local_world_size - 1);
  const std::string ranks =
      first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last);
  return fmt::format("{} of {} on {}, master {}:{}, OMP_NUM_THREADS={}", ranks, plan.world_size(), plan.host,
                     plan.master_addr, port,
                     threads.empty() ? std::to_string(plan.threads_per_worker) : threads);
}

void introduce(const LauncherParts& parts) {
  for (const std::string& note : parts.plan.notes) parts.console.say(note);
  parts.console.say(start_line(parts.plan, parts.master_port, parts.variables));
  if (parts.logs.kept()) parts.console.say("logs in " + parts.logs.path().string());
}

/// Writes what is waiting. A reader that does not read cannot hold the launcher against a signal, nor for
/// long when it was told to end before.
void write_rest(ConsoleQueue& console, SignalSource& signals, bool told_to_end) {
  constexpr int kPatienceMs = 1000;
  while (!console.empty()) {
    std::array<pollfd, 2> ends = {pollfd{console.descriptor(), POLLOUT, 0},
                                  pollfd{signals.descriptor(), POLLIN, 0}};
    const int ready = ::poll(ends.data(), ends.size(), told_to_end ? kPatienceMs : -1);
    if (ready == 0) console.drop();
    for (const int signal : signals.take())
      if (signal != SIGCHLD && signal != SIGUSR1 && signal != SIGUSR2) console.drop();
    console.write_some();
  }
}

/// A launcher inside a worker of another one tells that one why it failed.
void pass_error_file_on(const LauncherParts& parts, std::int64_t attempt, const WorkerFailure& failure) {
  const std::string target = value_of(parts.variables, "TORCHELASTIC_ERROR_FILE");
  if (target.empty() || failure.message.empty()) return;
  const std::filesystem::path source = parts.logs.worker_folder(attempt, failure.local_rank) / "error.json";
  std::error_code ignored;
  std::filesystem::copy_file(source, target, std::filesystem::copy_options::overwrite_existing, ignored);
}

LaunchOutcome run_attempts(const LauncherParts& parts) {
  for (std::int64_t attempt = 0;; ++attempt) {
    WorkerGroup group(parts, attempt);
    AttemptOutcome ended = Supervisor(parts, group).run();
    const int code = ended.failure ? ended.failure->shell_code() : ended.signal != 0 ? 128 + ended.signal : 0;
    if (!ended.failure || ended.signal != 0 || attempt == parts.plan.max_restarts) {
      if (ended.failure) pass_error_file_on(parts, attempt, *ended.failure);
      return {code, ended.signal, attempt, std::move(ended.failure)};
    }
    parts.console.say(
        fmt::format("restarting all ranks ({} of {} restarts)", attempt + 1, parts.plan.max_restarts));
  }
}

}  // namespace

LaunchOutcome run_launcher(const LaunchPlan& plan, const Variables& variables, const LaunchConsole& console) {
  fill_standard_streams();
  std::optional<PortHolder> port;  // the machine of rank 0 has the store
  if (plan.node_rank == 0) port.emplace(plan.master_port);
  const LogFolder logs(plan);
  const OrphanAdoption adoption;
  SignalSource signals;
  ConsoleQueue queue(console);
  const GroupWatchdog watchdog;
  const LauncherParts parts = {plan,
                               variables,
                               signals,
                               watchdog,
                               logs,
                               queue,
                               port ? port->port() : plan.master_port,
                               port.has_value()};
  introduce(parts);
  LaunchOutcome outcome = run_attempts(parts);
  write_rest(queue, signals, outcome.signal != 0);
  return outcome;
}

}  // namespace ranktune::launch
