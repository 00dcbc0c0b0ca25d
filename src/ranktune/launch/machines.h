#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/launch/launcher.h"

namespace ranktune::launch {

/// Which machines a job has, which one this is, and where they meet.
struct Machines {
  std::int64_t nodes = 1;
  std::int64_t node_rank = 0;
  std::string master_addr = "127.0.0.1";
  std::int64_t master_port = 0;         ///< 0: a free one
  std::string processes_per_node = {};  ///< as the platform says; empty: it does not
  std::vector<std::string> notes = {};
};

/// From --nnodes, --node_rank, --master_*, --rdzv_* and --standalone, and with --nnodes auto from what the
/// platform says. THROWS: UsageError naming the flag.
Machines resolve_machines(const LaunchOptions& options, const HostFacts& host);

}  // namespace ranktune::launch
