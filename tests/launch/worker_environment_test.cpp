#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranktune/launch/launcher.h"

namespace ranktune::launch {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

LaunchPlan second_machine() {
  LaunchPlan plan;
  plan.local_world_size = 4;
  plan.nodes = 3;
  plan.node_rank = 1;
  plan.master_addr = "head";
  plan.run_id = "job7";
  plan.role = "trainer";
  plan.max_restarts = 2;
  plan.threads_per_worker = 5;
  return plan;
}

const WorkerStart kStart = {2, 1, 29501, false, "/logs/error.json"};

TEST(WorkerEnvironment, IsTorchrunsAndNamesTheLauncher) {
  EXPECT_EQ(worker_environment(second_machine(), kStart, {}),
            (Variables{{"RANK", "6"},
                       {"WORLD_SIZE", "12"},
                       {"LOCAL_RANK", "2"},
                       {"LOCAL_WORLD_SIZE", "4"},
                       {"GROUP_RANK", "1"},
                       {"GROUP_WORLD_SIZE", "3"},
                       {"ROLE_RANK", "6"},
                       {"ROLE_WORLD_SIZE", "12"},
                       {"ROLE_NAME", "trainer"},
                       {"MASTER_ADDR", "head"},
                       {"MASTER_PORT", "29501"},
                       {"TORCHELASTIC_RESTART_COUNT", "1"},
                       {"TORCHELASTIC_MAX_RESTARTS", "2"},
                       {"TORCHELASTIC_RUN_ID", "job7"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                       {"TORCHELASTIC_ERROR_FILE", "/logs/error.json"},
                       {"RANKTUNE_ERROR_FILE", "/logs/error.json"},
                       {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                       {"OMP_NUM_THREADS", "5"}}));
}

TEST(WorkerEnvironment, KeepsTheUsersVariablesAndReplacesThoseOfAnOuterLauncher) {
  const Variables all =
      worker_environment(second_machine(), kStart,
                         {{"HOME", "/home/me"}, {"RANK", "0"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_THAT(all, Contains(Pair("HOME", "/home/me")));
  EXPECT_THAT(all, Contains(Pair("RANK", "6")));
  EXPECT_THAT(all, Contains(Pair("TORCHELASTIC_USE_AGENT_STORE", "False")));
}

TEST(WorkerEnvironment, LeavesAChosenNumberOfThreadsAlone) {
  const auto threads = [](const Variables& given) {
    return worker_environment(second_machine(), kStart, given).at("OMP_NUM_THREADS");
  };
  EXPECT_EQ(threads({{"OMP_NUM_THREADS", "3"}}), "3");
  EXPECT_EQ(threads({{"OMP_NUM_THREADS", ""}}), "5");
  EXPECT_EQ(worker_environment(second_machine(), kStart, {{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}})
                .at("TORCH_NCCL_ASYNC_ERROR_HANDLING"),
            "0");
}

TEST(WorkerEnvironment, SaysWhetherThePortIsHeldForRankZero) {
  WorkerStart held = kStart;
  held.port_is_held = true;
  EXPECT_THAT(worker_environment(second_machine(), held, {}), Contains(Pair("RANKTUNE_PORT_HELD", "1")));
  // That of an outer launcher speaks of another port.
  EXPECT_THAT(worker_environment(second_machine(), kStart, {{"RANKTUNE_PORT_HELD", "1"}}),
              Not(Contains(Key("RANKTUNE_PORT_HELD"))));
}

}  // namespace
}  // namespace ranktune::launch
