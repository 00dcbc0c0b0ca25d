#include "ranktune/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace ranktune::train {
namespace {

std::int64_t share_of(std::int64_t total_updates, double share) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(total_updates) * share));
}

}  // namespace

std::int64_t count_warmup_updates(double warmup_steps, double warmup_ratio, std::int64_t total_updates) {
  if (warmup_steps >= 1) return static_cast<std::int64_t>(warmup_steps);
  return share_of(total_updates, warmup_steps > 0 ? warmup_steps : warmup_ratio);
}

double learning_rate_multiplier(SchedulerType type, std::int64_t finished_updates,
                                std::int64_t warmup_updates, std::int64_t total_updates) {
  if (type == SchedulerType::constant) return 1.0;
  const auto finished = static_cast<double>(finished_updates);
  if (finished_updates < warmup_updates)
    return finished / static_cast<double>(std::max<std::int64_t>(1, warmup_updates));
  const std::int64_t falling = std::max<std::int64_t>(1, total_updates - warmup_updates);
  return std::max(0.0, static_cast<double>(total_updates - finished_updates) / static_cast<double>(falling));
}

std::int64_t interval_updates(double value, std::int64_t total_updates) {
  return value < 1 ? share_of(total_updates, value) : static_cast<std::int64_t>(value);
}

}  // namespace ranktune::train
