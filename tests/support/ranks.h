#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

namespace ranktune::tests {

/// How a rank ended.
struct RankResult {
  int exit_code = -1;  ///< 0: the work returned; 1: it threw; -1: killed by a signal
  int signal = 0;
  bool timed_out = false;  ///< killed by run_ranks
  std::string text;        ///< what the work returned, or the message of what it threw
};

struct RankOptions {
  int seconds = 30;  ///< hard limit for all ranks together
  /// Changes what a rank is told: another port, world size, run id.
  std::function<void(launch::LaunchEnv&)> adjust = {};
};

/// Runs `work` in `world_size` forked processes that can meet at a free port of the loopback address. Waits
/// for all, and kills what is left after the limit. Call it before the test program itself computes anything:
/// threads do not survive a fork.
std::vector<RankResult> run_ranks(int world_size,
                                  const std::function<std::string(const launch::LaunchEnv&)>& work,
                                  const RankOptions& options = {});

}  // namespace ranktune::tests
