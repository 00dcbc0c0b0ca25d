#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "ranktune/train/training_arguments.h"

/// What is said about the course of the learning rate.
namespace ranktune::cli {

/// As --lr_scheduler_type has them.
std::vector<std::pair<std::string, train::SchedulerType>> scheduler_names();

/// --lr_scheduler_kwargs, one JSON object: '{"num_cycles": 2}'.
Flag scheduler_kwargs_flag(train::SchedulerKwargs& kwargs);

/// THROWS: UsageError for a key that the schedule does not have, a value out of range, or one that is
/// missing.
void check_schedule(const train::TrainingArguments& training);

}  // namespace ranktune::cli
