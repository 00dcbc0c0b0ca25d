#pragma once

#include <cstdint>

namespace ranktune::train {

/// The mean loss since the last log, and over the whole run.
class LossMeter {
 public:
  /// Adds the loss of one update. One that is not finite is replaced by the mean since the last log (0 when
  /// there is none), as the Trainer does, so that a single bad update leaves the curve readable.
  void add(double loss);

  std::int64_t updates() const noexcept { return updates_; }

  /// Mean since the last call, which then starts anew. REQUIRES: updates() > 0.
  double take_mean();

  /// Mean of all updates; 0 when there were none.
  double total_mean() const;

 private:
  double sum_ = 0;
  std::int64_t updates_ = 0;
  double total_sum_ = 0;
  std::int64_t total_updates_ = 0;
};

}  // namespace ranktune::train
