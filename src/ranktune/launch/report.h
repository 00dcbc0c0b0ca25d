#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranktune/launch/error_file.h"
#include "ranktune/launch/launcher.h"

namespace ranktune::launch {

/// How one worker of an attempt ended.
struct WorkerEnd {
  WorkerFailure how = {};  ///< exit code 0 without a signal: well
  int asked = 0;           ///< the last signal to end that the launcher had sent it; 0: none
  double unix_time = 0;    ///< when the launcher saw it, in seconds since 1970
  std::optional<ErrorRecord> error = {};

  bool failed() const noexcept { return how.signal != 0 || how.exit_code != 0 || how.stopped; }
};

/// "SIGTERM" for 15.
std::string signal_name(int signal);

/// "exit code 7", "killed by SIGSEGV", "stopped by SIGSTOP".
std::string way_of_ending(const WorkerFailure& how);

/// The worker that began it: of those that failed without being asked to end the one that was seen first,
/// unless another one's error file says that it failed in an earlier second (its last breath took longer), or
/// its own that it failed because of another. nullptr: none.
const WorkerEnd* first_failure(std::span<const WorkerEnd> ends);

/// What a person has to know of a failure, in lines: who, how, when, where, why, its last words, the others.
std::vector<std::string> failure_report(const WorkerFailure& first, std::span<const WorkerEnd> ends);

}  // namespace ranktune::launch
