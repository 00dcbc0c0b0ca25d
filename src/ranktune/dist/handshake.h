#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "ranktune/dist/process_group.h"
#include "ranktune/launch/launch_env.h"

namespace ranktune::dist {

/// COLLECTIVE. Each rank says who it is and reads who the others are. THROWS: DistributedError for a rank
/// that does not come within `timeout`, that comes twice, or that belongs to another job.
std::vector<Member> shake_hands(const launch::LaunchEnv& env, const c10::intrusive_ptr<c10d::Store>& store,
                                std::chrono::milliseconds timeout);

/// Waits for one key per rank, "<prefix><rank>". Returns the ranks whose keys did not come in time; none: all
/// came.
std::vector<std::int64_t> wait_for_ranks(c10d::Store& store, const std::string& prefix,
                                         std::int64_t world_size, std::chrono::milliseconds timeout);

/// "rank 3", "ranks 1, 2 and 5", "ranks 1, 2, 3 and 12 others".
std::string name_ranks(const std::vector<std::int64_t>& ranks);

}  // namespace ranktune::dist
