#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/captured.h"
#include "cli/checks.h"
#include "ranktune/launch/launcher.h"

/// The verb `launch`.
namespace ranktune::cli {

struct LaunchCommand {
  launch::LaunchOptions options = {};
  std::vector<std::string> notes = {};  ///< about flags that changed nothing
  bool help = false;                    ///< only --help is wanted: nothing else holds
};

/// `words` are those after the verb. The first one that belongs to no flag is the program; the words after it
/// are the program's and are not looked at. A flag that is not given is taken from PET_<NAME>, as torchrun
/// does; an empty variable counts as none. THROWS: UsageError.
LaunchCommand parse_launch(std::span<const std::string> words, const launch::Variables& variables);

std::string launch_help();

/// Starts and watches over the ranks; their lines come on this process's streams. Returns the exit code.
/// After a Ctrl-C it does not return: the process ends by SIGINT, so that a shell's loop ends, too. THROWS:
/// as launch::plan_launch and launch::run_launcher.
int run_launch(const LaunchCommand& command, const launch::Variables& variables);

/// Starts ranks whose standard output is kept, without the rank in front of its lines. THROWS: as run_launch.
Captured launch_captured(const launch::LaunchOptions& options, const launch::Variables& variables);

}  // namespace ranktune::cli
