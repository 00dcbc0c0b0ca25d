#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ranktune/train/training_arguments.h"

/// What can be said about arguments before any file is opened. Pure functions.
namespace ranktune::cli {

/// THROWS: UsageError for values out of range and for combinations that cannot be meant.
void check(const train::TextClassificationArguments& arguments);
void check(const train::PredictArguments& arguments);

/// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

}  // namespace ranktune::cli
