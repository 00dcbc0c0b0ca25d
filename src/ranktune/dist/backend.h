#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "ranktune/dist/process_group.h"
#include "ranktune/launch/launch_env.h"

namespace ranktune::dist {

/// COLLECTIVE. c10d's group with one back end. `members`: all ranks, to see whether they share a machine.
/// THROWS: UsageError for a back end that this LibTorch lacks; what c10d throws.
c10::intrusive_ptr<c10d::ProcessGroup> make_c10d_group(const launch::LaunchEnv& env,
                                                       const std::vector<Member>& members,
                                                       const GroupOptions& options,
                                                       const c10::intrusive_ptr<c10d::Store>& store);

}  // namespace ranktune::dist
