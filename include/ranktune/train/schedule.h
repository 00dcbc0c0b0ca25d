#pragma once

#include <cstdint>

#include "ranktune/train/training_arguments.h"

/// When things happen in a run of `total_updates` updates, and at which rate. The rounding is that of
/// doubles, as in transformers 5.24: 0.07 of 100 updates are 8, because 100 * 0.07 is 7.000000000000001.
namespace ranktune::train {

/// Updates of the warm-up: `warmup_steps` without its fraction when it is 1 or more, else that share of all
/// updates, rounded up; when it is 0, the share `warmup_ratio` instead.
std::int64_t count_warmup_updates(double warmup_steps, double warmup_ratio, std::int64_t total_updates);

/// What the base rate is multiplied with for the update that follows `finished_updates` others. Linear: rises
/// from 0 over the warm-up, then falls to 0 at the end. Constant: always 1, warm-up or not.
double learning_rate_multiplier(SchedulerType type, std::int64_t finished_updates,
                                std::int64_t warmup_updates, std::int64_t total_updates);

/// Updates from one log, evaluation or save to the next: `value` itself from 1 on, below 1 that share of all
/// updates, rounded up. REQUIRES: value > 0.
std::int64_t interval_updates(double value, std::int64_t total_updates);

}  // namespace ranktune::train
