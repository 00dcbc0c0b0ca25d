#pragma once

#include <cstdint>
#include <vector>

#include "cli/flag.h"
#include "ranktune/train/training_arguments.h"

namespace ranktune::cli {

/// The flags of `ranktune train`, bound to `arguments` and `local_rank`, which must outlive the table.
/// Defaults shown are the values that `arguments` has now.
FlagTable train_flags(train::TextClassificationArguments& arguments, std::int64_t& local_rank);

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
