#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "ranktune/launch/descriptor.h"
#include "ranktune/launch/group_watchdog.h"
#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/signal_source.h"

namespace ranktune::launch {

/// A program that was started as the leader of a session and a process group of its own; both have the number
/// `pid`. The pipes do not block.
struct WorkerProcess {
  pid_t pid = -1;
  Descriptor out = {};  ///< reads its standard output
  Descriptor err = {};  ///< reads its standard error
};

struct WorkerCommand {
  std::vector<std::string> words = {};
  Variables environment = {};
  bool reads_input = false;  ///< it gets the launcher's standard input; otherwise it reads nothing
};

/// Returns once the program has been loaded. It dies with this thread. THROWS: UsageError when it cannot be
/// started.
WorkerProcess start_worker(const WorkerCommand& command, const SignalSource& signals,
                           const GroupWatchdog& watchdog);

/// Whether a process group has members. REQUIRES: its leader was started by this process.
bool group_exists(pid_t group);
/// Sends a signal to all of a group; nothing happens when there is none.
void signal_group(pid_t group, int signal);

}  // namespace ranktune::launch
