#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/train_flags.h"
#include "ranktune/launch/device_plan.h"
#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/launcher.h"

/// Where `ranktune train` runs: which rank it is, on what device, or how many ranks it starts instead.
namespace ranktune::cli {

struct Place {
  launch::LaunchEnv env;
  launch::DevicePlan plan;
  std::string ranks_to_start = {};  ///< as --nproc_per_node has it; empty: train in this process
};

/// Old launchers put --local_rank before the verb. The same words, the verb first.
std::vector<std::string> verb_first(std::vector<std::string> words);

/// THROWS: UsageError where variables, flags and devices contradict each other.
Place find_place(const PlaceArguments& arguments, bool use_cpu, const launch::Variables& variables,
                 const launch::FileReader& files, const launch::VisibleGpus& gpus);

/// The same with the files and, where LibTorch can use them, the GPUs of this machine.
Place find_own_place(const PlaceArguments& arguments, bool use_cpu, bool libtorch_has_cuda,
                     const launch::Variables& variables);

/// How to start the ranks of a place: `program` is what each of them runs.
launch::LaunchOptions launch_options(const Place& place, std::vector<std::string> program);

/// CPU threads of one of several ranks on a machine, 0 for "as LibTorch has it": where no launcher has set
/// OMP_NUM_THREADS, each rank would take all cores.
std::int64_t threads_of_rank(const launch::LaunchEnv& env, const launch::Variables& variables,
                             std::int64_t cores);

}  // namespace ranktune::cli
