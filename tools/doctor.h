#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ranktune/dist/process_group.h"

namespace ranktune {

/// Version, back ends and CPU kernels of this LibTorch.
nlohmann::json describe_libtorch();

/// COLLECTIVE. All ranks by number with their devices, and what a barrier and all-reduces cost: "ranks" and
/// "timings" on rank 0, anything on the others.
nlohmann::json examine_group(dist::ProcessGroup& group, const std::string& device);

}  // namespace ranktune
