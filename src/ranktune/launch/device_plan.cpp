#include "ranktune/launch/device_plan.h"

#include <algorithm>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {
namespace {

std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> entries(1);
  for (const char letter : list) {
    if (letter == ',')
      entries.emplace_back();
    else if (letter != ' ')
      entries.back() += letter;
  }
  return entries;
}

/// Whether CUDA would take an entry of its list for a GPU of this machine.
bool is_gpu(const std::string& entry, std::int64_t installed) {
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) return true;
  const bool digits = !entry.empty() && entry.find_first_not_of("0123456789") == std::string::npos;
  return digits && entry.size() < 9 && std::stoll(entry) < installed;
}

std::string count_of(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

DevicePlan on_cpu(const LaunchEnv& env, const DeviceRequest& request, std::string why) {
  if (request.ddp_backend == "nccl")
    throw UsageError("--ddp_backend nccl needs a GPU for every rank, and " + why + ": leave the flag out");
  const std::string backend = request.ddp_backend.empty() ? "gloo" : request.ddp_backend;
  return {.device = "cpu", .backend = env.distributed() ? backend : "", .why = std::move(why)};
}

DevicePlan of_rank(const LaunchEnv& env, const VisibleGpus& gpus, const DeviceRequest& request) {
  const auto count = static_cast<std::int64_t>(gpus.visible.size());
  const std::string who = "rank " + std::to_string(env.rank) + " of " + std::to_string(env.world_size) +
                          ", local rank " + std::to_string(env.local_rank);
  std::int64_t index = env.local_rank;
  std::string why = who + ": cuda:" + std::to_string(index);
  if (count == 1 && (env.local_world_size == 1 || env.local_rank >= 1 || request.ddp_backend != "gloo")) {
    // One GPU per task is what Slurm and others show; it is number 0 for every task.
    index = 0;
    why = who + ": cuda:0, the one GPU that this task sees (" + gpus.source + ")";
  } else if (env.local_world_size > count) {
    if (request.ddp_backend != "gloo")
      throw UsageError(count_of(env.local_world_size, "rank") + " on this machine, but " +
                       count_of(count, "visible GPU") + " (" + gpus.source + "): start at most " +
                       std::to_string(count) + ", or let ranks share GPUs with --ddp_backend gloo");
    index = env.local_rank % count;
    why = who + ": cuda:" + std::to_string(index) + ", shared with other ranks";
  }
  return {.device = "cuda:" + std::to_string(index),
          .backend = request.ddp_backend.empty() ? "nccl" : request.ddp_backend,
          .why = std::move(why)};
}

DevicePlan on_xla(const LaunchEnv& env, const std::string& library) {
  if (library.empty())
    throw UsageError(std::string("--device xla: LibTorch has no TPU back end of its own; set ") +
                     kXlaLibrary + " to the path of a shared library that registers one");
  if (env.distributed())
    throw UsageError("--device xla with rank " + std::to_string(env.rank) + " of " +
                     std::to_string(env.world_size) +
                     ": no back end here carries gradients between XLA devices; start one process");
  return {.device = "xla:0", .library = library, .why = "one process on xla:0, as --device xla asks"};
}

/// One process that nothing has launched, several GPUs before it.
DevicePlan alone_with_several(const LaunchEnv& env, std::int64_t count, const DeviceRequest& request) {
  const bool typed_minus_one = env.local_rank_argument == std::optional<std::int64_t>(-1);
  if (request.parallel == Parallel::none)
    return {.device = "cuda:0", .why = "one process on cuda:0, as --parallel none asks"};
  if (request.parallel == Parallel::data_parallel || typed_minus_one) {
    DevicePlan plan{.device = "cuda:0", .why = {}};
    for (std::int64_t gpu = 0; gpu < count; ++gpu) plan.replicas.push_back(gpu);
    plan.why = "one process with DataParallel over " + count_of(count, "GPU") +
               (typed_minus_one ? ", as --local_rank -1 asks" : ", as --parallel data_parallel asks") +
               "; without the flag it would start a rank for each, which is faster";
    return plan;
  }
  return {.device = "cuda:0",
          .launch_ranks = count,
          .why = count_of(count, "visible GPU") +
                 ": starting a rank for each (--parallel data_parallel or none chooses otherwise)"};
}

}  // namespace

VisibleGpus visible_gpus(std::int64_t installed, const Variables& variables) {
  VisibleGpus gpus{.installed = installed, .source = installed == 0 ? "no GPU" : "all that the driver has"};
  const auto list = variables.find("CUDA_VISIBLE_DEVICES");
  if (list == variables.end()) {
    for (std::int64_t gpu = 0; gpu < installed; ++gpu) gpus.visible.push_back(std::to_string(gpu));
    return gpus;
  }
  gpus.source = "CUDA_VISIBLE_DEVICES=" + list->second;
  for (const std::string& entry : entries_of(list->second)) {
    if (installed == 0 || !is_gpu(entry, installed))
      break;  // CUDA stops at the first entry that it cannot take
    if (std::find(gpus.visible.begin(), gpus.visible.end(), entry) != gpus.visible.end()) {
      gpus.visible.clear();  // one named twice: CUDA then shows none
      break;
    }
    gpus.visible.push_back(entry);
  }
  return gpus;
}

VisibleGpus usable_gpus(VisibleGpus gpus, bool libtorch_has_cuda) {
  if (libtorch_has_cuda) return gpus;
  return {.installed = gpus.installed, .source = "this LibTorch was built without CUDA"};
}

DevicePlan plan_device(const LaunchEnv& env, const VisibleGpus& gpus, const DeviceRequest& request) {
  const auto count = static_cast<std::int64_t>(gpus.visible.size());
  if (request.use_cpu && !request.device.empty() && request.device != "cpu")
    throw UsageError("--use_cpu and --device " + request.device + " contradict each other: leave one out");
  if (request.device == "xla") return on_xla(env, request.xla_library);
  if (request.device == "cuda" && count == 0)
    throw UsageError("--device cuda: no GPU is visible (" + gpus.source + ")");
  if (request.use_cpu || request.device == "cpu") return on_cpu(env, request, "on the CPU, as asked");
  const std::string no_gpu = env.distributed()
                                 ? "rank " + std::to_string(env.rank) + " of " +
                                       std::to_string(env.world_size) + ", local rank " +
                                       std::to_string(env.local_rank) + ": on the CPU, no GPU is visible"
                                 : "on the CPU: no GPU is visible";
  if (count == 0) return on_cpu(env, request, no_gpu);
  if (env.distributed()) return of_rank(env, gpus, request);
  if (count == 1) return {.device = "cuda:0", .why = "one process on the one visible GPU"};
  return alone_with_several(env, count, request);
}

}  // namespace ranktune::launch
