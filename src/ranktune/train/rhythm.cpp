#include "ranktune/train/rhythm.h"

#include "ranktune/train/schedule.h"

namespace ranktune::train {

Rhythm::Rhythm(IntervalStrategy strategy, double interval, std::int64_t total_updates, bool at_the_end)
    : strategy_(strategy) {
  if (strategy != IntervalStrategy::steps) return;
  interval_ = interval_updates(interval, total_updates);
  if (at_the_end) last_ = total_updates;
}

bool Rhythm::due_after_update(std::int64_t updates_done) const noexcept {
  return interval_ > 0 && (updates_done % interval_ == 0 || updates_done == last_);
}

}  // namespace ranktune::train
