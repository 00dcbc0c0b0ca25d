#pragma once

#include <string>

#include "ranktune/launch/launch_env.h"

namespace ranktune::launch {

/// The pid of the program called `name` that has started this process, itself or through others; "" where
/// there is none. Reads /proc through `files`.
std::string pid_of_ancestor(const std::string& name, const FileReader& files);

}  // namespace ranktune::launch
