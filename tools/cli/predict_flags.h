#pragma once

#include "cli/flag.h"
#include "ranktune/train/training_arguments.h"

namespace ranktune::cli {

/// The flags of `ranktune predict`, bound to `arguments` and `disable_tqdm`, which must outlive the table.
FlagTable predict_flags(train::PredictArguments& arguments, bool& disable_tqdm);

}  // namespace ranktune::cli
