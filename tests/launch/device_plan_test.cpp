// The rows of the table in docs/local_rank.md that speak of devices.
#include "ranktune/launch/device_plan.h"

#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::launch {
namespace {

using tests::error_text;
using Names = std::vector<std::string>;

VisibleGpus gpus(std::int64_t count) {
  return visible_gpus(count, {});
}

LaunchEnv rank(std::int64_t local_rank, std::int64_t local_world_size) {
  return {.launcher = "torchrun",
          .rank = local_rank,
          .world_size = local_world_size,
          .local_rank = local_rank,
          .local_world_size = local_world_size};
}

LaunchEnv alone(std::optional<std::int64_t> typed = std::nullopt) {
  LaunchEnv env;
  env.local_rank_argument = typed;
  return env;
}

TEST(VisibleGpus, FollowCudasRules) {
  EXPECT_EQ(gpus(2).visible, (Names{"0", "1"}));
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "2,0"}}).visible, (Names{"2", "0"}));
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", ""}}).visible, Names{});
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "-1"}}).visible, Names{});
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "1,7,0"}}).visible, Names{"1"});
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "1,1"}}).visible, Names{});
  EXPECT_EQ(visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "GPU-8f7a, MIG-1/2/0"}}).visible,
            (Names{"GPU-8f7a", "MIG-1/2/0"}));
  EXPECT_EQ(visible_gpus(0, {{"CUDA_VISIBLE_DEVICES", "0"}}).visible, Names{});
}

TEST(PlanDevice, IsOneDeviceForOneProcess) {
  const DevicePlan cpu = plan_device(alone(), gpus(0), {});
  EXPECT_EQ(cpu.device, "cpu");
  EXPECT_EQ(cpu.backend, "");
  EXPECT_EQ(plan_device(alone(), gpus(1), {}).device, "cuda:0");
  EXPECT_EQ(plan_device(alone(-1), gpus(1), {}).device, "cuda:0");
}

TEST(PlanDevice, StartsARankForEachOfSeveralGpus) {
  const DevicePlan plan = plan_device(alone(), gpus(2), {});
  EXPECT_EQ(plan.launch_ranks, 2);
  EXPECT_NE(plan.why.find("--parallel"), std::string::npos);
}

TEST(PlanDevice, UsesAllGpusInOneProcessWhenAsked) {
  for (const auto& [env, request] :
       {std::pair{alone(-1), DeviceRequest{}},
        std::pair{alone(), DeviceRequest{.parallel = Parallel::data_parallel}}}) {
    const DevicePlan plan = plan_device(env, gpus(2), request);
    EXPECT_EQ(plan.replicas, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(plan.launch_ranks, 0);
  }
  EXPECT_TRUE(plan_device(alone(), gpus(2), {.parallel = Parallel::none}).replicas.empty());
}

TEST(PlanDevice, GivesEachRankTheDeviceOfItsLocalRank) {
  const DevicePlan plan = plan_device(rank(1, 2), gpus(2), {});
  EXPECT_EQ(plan.device, "cuda:1");
  EXPECT_EQ(plan.backend, "nccl");
}

TEST(PlanDevice, TakesTheOneGpuThatATaskSees) {
  EXPECT_EQ(plan_device(rank(3, 4), visible_gpus(4, {{"CUDA_VISIBLE_DEVICES", "3"}}), {}).device, "cuda:0");
}

TEST(PlanDevice, StaysOnTheCpuWhenAskedOrWithoutAGpu) {
  for (const auto& [visible, request] :
       {std::pair{gpus(2), DeviceRequest{.use_cpu = true}}, std::pair{gpus(0), DeviceRequest{}}}) {
    const DevicePlan plan = plan_device(rank(1, 2), visible, request);
    EXPECT_EQ(plan.device, "cpu");
    EXPECT_EQ(plan.backend, "gloo");
  }
  EXPECT_NE(error_text<UsageError>([] {
              plan_device(rank(1, 2), gpus(0), {.ddp_backend = "nccl"});
            }).find("--ddp_backend nccl needs a GPU"),
            std::string::npos);
}

TEST(PlanDevice, RefusesMoreRanksThanGpusUnlessTheyMayShare) {
  EXPECT_EQ(error_text<UsageError>([] { plan_device(rank(3, 4), gpus(2), {}); }),
            "4 ranks on this machine, but 2 visible GPUs (all that the driver has): start at most 2, or let "
            "ranks share GPUs with "
            "--ddp_backend gloo");
  EXPECT_EQ(plan_device(rank(3, 4), gpus(2), {.ddp_backend = "gloo"}).device, "cuda:1");
}

TEST(PlanDevice, SaysWhatXlaNeeds) {
  EXPECT_EQ(error_text<UsageError>([] { plan_device(alone(), gpus(0), {.device = "xla"}); }),
            "--device xla: LibTorch has no TPU back end of its own; set RANKTUNE_XLA_LIBRARY to the path of "
            "a shared library that registers one");
  const DevicePlan plan = plan_device(alone(), gpus(2), {.device = "xla", .xla_library = "/opt/xla.so"});
  EXPECT_EQ(plan.device, "xla:0");
  EXPECT_EQ(plan.library, "/opt/xla.so");
  EXPECT_EQ(
      error_text<UsageError>(
          [] { plan_device(rank(1, 2), gpus(0), {.device = "xla", .xla_library = "/opt/xla.so"}); }),
      "--device xla with rank 1 of 2: no back end here carries gradients between XLA devices; start one "
      "process");
}

TEST(PlanDevice, RefusesADeviceBesideUseCpu) {
  EXPECT_EQ(
      error_text<UsageError>([] { plan_device(alone(), gpus(1), {.use_cpu = true, .device = "cuda"}); }),
      "--use_cpu and --device cuda contradict each other: leave one out");
}

}  // namespace
}  // namespace ranktune::launch
