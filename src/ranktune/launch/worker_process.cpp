#include "ranktune/launch/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranktune/core/error.h"
#include "ranktune/launch/pipe.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// What the child needs, prepared before the fork: after it, only system calls.
struct Child {
  std::vector<char*> arguments = {};
  std::vector<char*> environment = {};
  bool reads_input = false;
  pid_t launcher = 0;
  int out = -1, err = -1, failure = -1;
};

[[noreturn]] void become_program(const Child& child, const SignalSource& signals,
                                 const GroupWatchdog& watchdog) {
  ::setsid();
  watchdog.note(::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != child.launcher) ::_exit(128 + SIGKILL);  // it died before the line above
  if (!child.reads_input) ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(child.out, STDOUT_FILENO);
  ::dup2(child.err, STDERR_FILENO);
  signals.restore();
  ::execvpe(child.arguments[0], child.arguments.data(), child.environment.data());
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(child.failure, &code, sizeof code);
  ::_exit(127);
}

/// The error number with which the program could not be loaded; 0: it was.
int load_failure(const Descriptor& read_end) {
  int code = 0;
  ssize_t count = 0;
  while ((count = ::read(read_end.get(), &code, sizeof code)) < 0 && errno == EINTR) continue;
  return count == sizeof code ? code : 0;
}

}  // namespace

WorkerProcess start_worker(const WorkerCommand& command, const SignalSource& signals,
                           const GroupWatchdog& watchdog) {
  Pipe out, err, failure;
  std::vector<std::string> words = command.words, settings;
  for (const auto& [name, value] : command.environment) settings.push_back(name + "=" + value);
  const Child child = {pointers(words),     pointers(settings),  command.reads_input,    ::getpid(),
                       out.write_end.get(), err.write_end.get(), failure.write_end.get()};
  const pid_t pid = ::fork();
  if (pid < 0) throw Error("no process can be started: " + system_reason(errno));
  if (pid == 0) become_program(child, signals, watchdog);
  failure.write_end.reset();
  if (const int code = load_failure(failure.read_end)) {
    ::waitpid(pid, nullptr, 0);
    watchdog.forget(pid);
    throw UsageError(words.front() + " cannot be started: " + system_reason(code));
  }
  for (const Descriptor* end : {&out.read_end, &err.read_end}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
  return {pid, std::move(out.read_end), std::move(err.read_end)};
}

bool group_exists(pid_t group) {
  return ::kill(-group, 0) == 0 || errno == EPERM;
}

void signal_group(pid_t group, int signal) {
  ::kill(-group, signal);
}

}  // namespace ranktune::launch
