#pragma once

#include <cstdint>

#include "ranktune/train/training_arguments.h"

/// When things happen in a run of `total_updates` updates, and at which rate. The rounding is that of
/// doubles, as in transformers 5.24: 0.07 of 100 updates are 8, because 100 * 0.07 is 7.000000000000001.
namespace ranktune::train {

/// Updates of the warm-up: `warmup_steps` without its fraction when it is 1 or more, else that share of all
/// updates, rounded up; when it is 0, the share `warmup_ratio` instead.
std::int64_t count_warmup_updates(double warmup_steps, double warmup_ratio, std::int64_t total_updates);

/// The course of the learning rate over a run.
struct Schedule {
  SchedulerType type = SchedulerType::linear;
  SchedulerKwargs kwargs = {};
  double learning_rate = 5e-5;  ///< the base rate, which some formulas need
  std::int64_t warmup_updates = 0;
  std::int64_t total_updates = 1;
};

/// What the base rate is multiplied with for the update that follows `finished_updates` (s below) others;
/// formulas of transformers 5.24. All but constant rise linearly over the warm-up of W updates, s / W.
/// Then, with p = (s - W) / (T - W), the share of the rest that is over:
///   linear                     1 - p
///   cosine                     half a wave, (1 + cos(2 pi c p)) / 2, c = num_cycles (0.5)
///   cosine_with_restarts       the same half num_cycles (1) times, 0 at the end
///   polynomial                 from the base rate to lr_end (1e-7): (1 - p)^power (1)
///   constant                   1, warm-up or not; constant_with_warmup: 1
///   inverse_sqrt               1 / sqrt((s + t - W) / t), t = timescale, or else W, or else 10000
///   reduce_lr_on_plateau       1, without a warm-up; PlateauReducer has the rest
///   cosine_with_min_lr         cosine down to min_lr_rate, or min_lr / base rate
///   cosine_warmup_with_min_lr  the same one update ahead, warm-up too, or that from warmup_lr_rate on
///   warmup_stable_decay        warm-up by warmup_type (linear), num_stable_steps (what is left) of 1, then
///                              decay_type (cosine) in num_decay_steps; lowest rate min_lr_ratio (0)
double learning_rate_multiplier(const Schedule& schedule, std::int64_t finished_updates);

/// torch's ReduceLROnPlateau: lowers the learning rate where a measure has stopped improving.
class PlateauReducer {
 public:
  /// `kwargs`: mode (min), factor (0.1), patience (10), threshold (1e-4), threshold_mode (rel), cooldown (0),
  /// min_lr (0), eps (1e-8).
  PlateauReducer(const SchedulerKwargs& kwargs, double learning_rate);

  /// After each evaluation.
  void step(double measure);
  double learning_rate() const noexcept { return learning_rate_; }

 private:
  bool improves(double measure) const;

  SchedulerKwargs kwargs_;
  double learning_rate_, best_;
  double bad_ = 0, cooling_ = 0;  ///< evaluations: without improvement; left of the cool-down
};

/// Updates from one log, evaluation or save to the next: `value` itself from 1 on, below 1 that share of all
/// updates, rounded up. REQUIRES: value > 0.
std::int64_t interval_updates(double value, std::int64_t total_updates);

}  // namespace ranktune::train
