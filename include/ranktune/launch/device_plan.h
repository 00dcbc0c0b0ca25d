#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

namespace ranktune::launch {

/// The GPUs that this process may use, counted without LibTorch.
struct VisibleGpus {
  std::int64_t installed = 0;  ///< on the machine
  std::vector<std::string> visible =
      {};  ///< names after CUDA_VISIBLE_DEVICES: "0", "GPU-...", "MIG-..."; place i is cuda:i
  std::string source = {};  ///< why these: "CUDA_VISIBLE_DEVICES=2,0", "NVML", "no driver"
};

/// `installed` GPUs seen through CUDA_VISIBLE_DEVICES, by CUDA's rules: unset: all; empty or -1: none; the
/// list ends before the first entry that is no GPU of this machine.
VisibleGpus visible_gpus(std::int64_t installed, const Variables& variables);

/// Those of them that LibTorch can use: none where it was built without CUDA.
VisibleGpus usable_gpus(VisibleGpus gpus, bool libtorch_has_cuda);

/// Asks the driver's management library (libnvidia-ml.so.1, opened at run time); 0 where there is none.
std::int64_t count_installed_gpus();

/// How several devices of one process are used.
enum class Parallel { automatic, data_parallel, none };

/// The variable that names the shared library in which XLA's back end for LibTorch is.
inline constexpr const char* kXlaLibrary = "RANKTUNE_XLA_LIBRARY";

struct DeviceRequest {
  bool use_cpu = false;
  Parallel parallel = Parallel::automatic;
  std::string ddp_backend = {};  ///< "nccl", "gloo", "mpi" or empty: chosen by the device
  std::string device = {};       ///< "", "cpu", "cuda", "xla"
  std::string xla_library = {};  ///< value of kXlaLibrary
};

/// What this process computes on.
struct DevicePlan {
  std::string device = "cpu";               ///< "cpu", "cuda:1", "xla"
  std::vector<std::int64_t> replicas = {};  ///< DataParallel: GPUs of this process; empty otherwise
  std::int64_t launch_ranks = 0;            ///< > 0: start this many ranks instead of training here
  std::string backend = {};                 ///< "nccl", "gloo", "mpi"; empty: no process group
  std::string library = {};                 ///< shared library to load first; empty: none
  std::string why;                          ///< one sentence for people
};

/// The table at the head of docs/local_rank.md, row by row. THROWS: UsageError where no device can be meant,
/// with both counts.
DevicePlan plan_device(const LaunchEnv& env, const VisibleGpus& gpus, const DeviceRequest& request);

}  // namespace ranktune::launch
