#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flag.h"
#include "ranktune/launch/device_plan.h"
#include "ranktune/train/training_arguments.h"

namespace ranktune::cli {

/// What is said about processes and devices.
struct PlaceArguments {
  std::optional<std::int64_t> local_rank = {};
  std::string nproc_per_node = {};  ///< a number, auto, gpu or cpu; empty: as the devices are
  launch::Parallel parallel = launch::Parallel::automatic;
  std::string device = {};  ///< cpu, cuda or xla; empty: a GPU where there is one
  std::string ddp_backend = {};
  double ddp_timeout = 1800;  ///< seconds
};

/// --device, bound to `place`.
Flag device_flag(PlaceArguments& place);

/// The flags of `ranktune train`, bound to `arguments` and `place`, which must outlive the table.
/// Defaults shown are the values that they have now.
FlagTable train_flags(train::TextClassificationArguments& arguments, PlaceArguments& place);

/// Flags of run_glue, run_classification and the Trainer that do nothing here, or that this version does not
/// have.
std::vector<Flag> ignored_trainer_flags();
std::vector<Flag> refused_trainer_flags();

/// The groups of those flags: --help lists their names only.
inline constexpr const char* kIgnoredGroup =
    "Accepted without effect, so that other command lines can be used as they are";
inline constexpr const char* kRefusedGroup =
    "Not in this version: each is refused with its reason, unless it is given as off";

}  // namespace ranktune::cli
