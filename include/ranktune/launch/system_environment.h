#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

/// The rim around the pure functions of launch_env.h: this process's own variables and files.
namespace ranktune::launch {

/// All environment variables of this process.
Variables environment_variables();

/// Reads files of this machine; nothing for those that cannot be read.
FileReader file_reader();

/// This machine's name, "localhost" for one without.
std::string host_name();

/// Cores' worth of time that this process's container may use, from its control group; the largest number
/// where nothing limits it.
std::int64_t cores_of_container();

/// detect() for this process, with the words of main().
Detection detect_process(int argc, char** argv);

}  // namespace ranktune::launch
