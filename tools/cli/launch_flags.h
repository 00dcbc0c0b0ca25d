#pragma once

#include "cli/flag.h"
#include "ranktune/launch/launcher.h"

namespace ranktune::cli {

/// The flags of `ranktune launch`, which set `options`. Names and meanings are torchrun's.
FlagTable launch_flags(launch::LaunchOptions& options);

}  // namespace ranktune::cli
