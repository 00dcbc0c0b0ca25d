#pragma once

#include <sys/types.h>

#include "ranktune/launch/descriptor.h"

namespace ranktune::launch {

/// A small process that outlives the launcher by a moment: it waits for the other end of a pipe to close,
/// which even SIGKILL of the launcher brings about, and kills the process groups that were noted and not
/// forgotten. (PR_SET_PDEATHSIG alone reaches the workers but not what they started.) It leads a session of
/// its own, so that no signal for the launcher's group reaches it.
class GroupWatchdog {
 public:
  GroupWatchdog();
  /// Waits until it has ended; groups that are still noted are killed.
  ~GroupWatchdog();
  GroupWatchdog(const GroupWatchdog&) = delete;
  GroupWatchdog& operator=(const GroupWatchdog&) = delete;

  /// Async-signal-safe: a worker notes itself before it becomes its program, so that no group is ever
  /// unknown.
  void note(pid_t group) const noexcept { tell(group); }
  /// The group is gone, and its number may soon be another's.
  void forget(pid_t group) const noexcept { tell(-group); }

  pid_t pid() const noexcept { return pid_; }

 private:
  void tell(pid_t record) const noexcept;

  Descriptor lifeline_;
  pid_t pid_ = -1;
};

}  // namespace ranktune::launch
