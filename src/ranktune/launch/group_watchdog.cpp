#include "ranktune/launch/group_watchdog.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/pipe.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

/// Keeps nothing of the launcher's open but the pipe, which becomes descriptor 0: whoever reads the
/// launcher's output must not have to wait for this process.
void keep_only(int lifeline) {
  ::dup2(lifeline, 0);
  if (::close_range(1, ~0U, 0) == 0) return;
  for (int other = 1; other < 4096; ++other) ::close(other);  // a kernel before 5.9
}

[[noreturn]] void watch(int lifeline) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "ranktune-watch");
  keep_only(lifeline);
  std::set<pid_t> groups;
  pid_t record = 0;
  ssize_t count = 0;
  while ((count = ::read(0, &record, sizeof record)) != 0) {
    if (count != sizeof record) continue;
    if (record > 0)
      groups.insert(record);
    else
      groups.erase(-record);
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupWatchdog::GroupWatchdog() {
  Pipe pipe;
  lifeline_ = std::move(pipe.write_end);
  pid_ = ::fork();
  if (pid_ < 0) throw Error("no process can be started: " + system_reason(errno));
  if (pid_ == 0) watch(pipe.read_end.get());
}

GroupWatchdog::~GroupWatchdog() {
  lifeline_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void GroupWatchdog::tell(pid_t record) const noexcept {
  while (::write(lifeline_.get(), &record, sizeof record) < 0 && errno == EINTR) continue;
}

}  // namespace ranktune::launch
