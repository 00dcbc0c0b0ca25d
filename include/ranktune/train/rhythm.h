#pragma once

#include <cstdint>

#include "ranktune/train/training_arguments.h"

namespace ranktune::train {

/// When something that recurs (a log, an evaluation, a save) is due.
class Rhythm {
 public:
  /// `interval`: updates, or below 1 a share of all of them; read only with IntervalStrategy::steps.
  /// `at_the_end`: with IntervalStrategy::steps also due after the last update.
  Rhythm(IntervalStrategy strategy, double interval, std::int64_t total_updates, bool at_the_end);

  bool due_after_update(std::int64_t updates_done) const noexcept;
  bool due_after_epoch() const noexcept { return strategy_ == IntervalStrategy::epoch; }

  /// Updates from one time to the next; 0 when the interval is not counted in updates.
  std::int64_t interval() const noexcept { return interval_; }

 private:
  IntervalStrategy strategy_;
  std::int64_t interval_ = 0;
  std::int64_t last_ = 0;  ///< due after this update in any case; 0: none
};

}  // namespace ranktune::train
