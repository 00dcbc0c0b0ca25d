#pragma once

#include "ranktune/train/training_arguments.h"

/// What can be said about arguments before any file is opened. Pure functions.
namespace ranktune::cli {

/// THROWS: UsageError for values out of range and for combinations that cannot be meant.
void check(const train::TextClassificationArguments& arguments);
void check(const train::PredictArguments& arguments);

}  // namespace ranktune::cli
