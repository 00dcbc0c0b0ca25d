#pragma once

#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

/// The rim around the pure functions of launch_env.h: this process's own variables and files.
namespace ranktune::launch {

/// All environment variables of this process.
Variables environment_variables();

/// Reads files of this machine; nothing for those that cannot be read.
FileReader file_reader();

/// detect() for this process, with the words of main().
Detection detect_process(int argc, char** argv);

}  // namespace ranktune::launch
