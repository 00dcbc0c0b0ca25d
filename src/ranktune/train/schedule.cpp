#include "ranktune/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

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

namespace {

/// One look at a schedule after `finished` updates.
class Moment {
 public:
  Moment(const Schedule& schedule, std::int64_t finished)
      : kwargs_(schedule.kwargs),
        base_(schedule.learning_rate),
        finished_(static_cast<double>(finished)),
        warmup_(static_cast<double>(schedule.warmup_updates)),
        total_(static_cast<double>(schedule.total_updates)) {}

  bool warming_up() const { return finished_ < warmup_; }
  double warmup() const { return finished_ / std::max(1.0, warmup_); }
  double linear() const { return std::max(0.0, (total_ - finished_) / rest()); }
  double cosine(double lowest) const { return wave((finished_ - warmup_) / rest(), lowest); }

  double restarts() const {
    const double progress = (finished_ - warmup_) / rest();
    if (progress >= 1) return 0;
    return fall("cosine", std::fmod(kwargs_.num_cycles.value_or(1) * progress, 1.0), 0.5);
  }

  double polynomial() const {
    const double end = kwargs_.lr_end.value_or(1e-7);
    if (finished_ > total_) return end / base_;
    const double left = 1 - (finished_ - warmup_) / rest();
    return ((base_ - end) * std::pow(left, kwargs_.power.value_or(1)) + end) / base_;
  }

  double inverse_sqrt() const {
    const double scale = kwargs_.timescale.value_or(warmup_ > 0 ? warmup_ : 10000);
    return 1 / std::sqrt((finished_ + (scale - warmup_)) / scale);
  }

  double lowest_share() const {
    return kwargs_.min_lr ? *kwargs_.min_lr / base_ : kwargs_.min_lr_rate.value_or(0);
  }

  double cosine_one_ahead() const {
    if (!warming_up()) return wave((finished_ - warmup_ + 1) / rest(), lowest_share());
    if (!kwargs_.warmup_lr_rate) return (finished_ + 1) / std::max(1.0, warmup_);
    const double start = *kwargs_.warmup_lr_rate;
    return start + (1 - start) * finished_ / std::max(1.0, warmup_ - 1);
  }

  double warmup_stable_decay() const {
    const double decay = kwargs_.num_decay_steps.value_or(0);
    const double stable = kwargs_.num_stable_steps.value_or(total_ - warmup_ - decay);
    const double lowest = kwargs_.min_lr_ratio.value_or(0);
    if (warming_up()) return lifted(fall(kwargs_.warmup_type.value_or("linear"), 1 - warmup(), 0.5), lowest);
    if (finished_ < warmup_ + stable) return 1;
    if (finished_ >= warmup_ + stable + decay) return lowest;
    const double progress = (finished_ - warmup_ - stable) / std::max(1.0, decay);
    return lifted(fall(kwargs_.decay_type.value_or("cosine"), progress, kwargs_.num_cycles.value_or(0.5)),
                  lowest);
  }

 private:
  double rest() const { return std::max(1.0, total_ - warmup_); }

  static double lifted(double value, double lowest) { return std::max(0.0, value * (1 - lowest) + lowest); }

  double wave(double progress, double lowest) const {
    return lifted(fall("cosine", progress, kwargs_.num_cycles.value_or(0.5)), lowest);
  }

  /// From 1 on; to 0 at a progress of 1, with half a cycle of the cosine.
  static double fall(const std::string& shape, double progress, double cycles) {
    if (shape == "linear") return 1 - progress;
    if (shape == "cosine") return 0.5 * (1 + std::cos(std::numbers::pi * cycles * 2 * progress));
    return 1 - std::sqrt(progress);
  }

  const SchedulerKwargs& kwargs_;
  double base_, finished_, warmup_, total_;
};

/// After the warm-up that most schedules share.
double multiplier_after_warmup(SchedulerType type, const Moment& moment) {
  switch (type) {
    case SchedulerType::cosine:
      return moment.cosine(0);
    case SchedulerType::cosine_with_min_lr:
      return moment.cosine(moment.lowest_share());
    case SchedulerType::cosine_with_restarts:
      return moment.restarts();
    case SchedulerType::polynomial:
      return moment.polynomial();
    case SchedulerType::inverse_sqrt:
      return moment.inverse_sqrt();
    case SchedulerType::linear:
      return moment.linear();
    default:
      return 1;
  }
}

}  // namespace

double learning_rate_multiplier(const Schedule& schedule, std::int64_t finished_updates) {
  const Moment moment(schedule, finished_updates);
  switch (schedule.type) {
    case SchedulerType::constant:
    case SchedulerType::reduce_lr_on_plateau:
      return 1;
    case SchedulerType::cosine_warmup_with_min_lr:
      return moment.cosine_one_ahead();
    case SchedulerType::warmup_stable_decay:
      return moment.warmup_stable_decay();
    default:
      return moment.warming_up() ? moment.warmup() : multiplier_after_warmup(schedule.type, moment);
  }
}

PlateauReducer::PlateauReducer(const SchedulerKwargs& kwargs, double learning_rate)
    : kwargs_(kwargs),
      learning_rate_(learning_rate),
      best_(kwargs.mode.value_or("min") == "min" ? std::numeric_limits<double>::infinity()
                                                 : -std::numeric_limits<double>::infinity()) {}

bool PlateauReducer::improves(double measure) const {
  const bool smaller = kwargs_.mode.value_or("min") == "min";
  const double threshold = (smaller ? -1 : 1) * kwargs_.threshold.value_or(1e-4);
  const double mark =
      kwargs_.threshold_mode.value_or("rel") == "rel" ? best_ * (1 + threshold) : best_ + threshold;
  return smaller ? measure < mark : measure > mark;
}

void PlateauReducer::step(double measure) {
  if (improves(measure)) {
    best_ = measure;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ <= kwargs_.patience.value_or(10)) return;
  const double lower = std::max(learning_rate_ * kwargs_.factor.value_or(0.1), kwargs_.min_lr.value_or(0));
  if (learning_rate_ - lower > kwargs_.eps.value_or(1e-8)) learning_rate_ = lower;
  cooling_ = kwargs_.cooldown.value_or(0);
  bad_ = 0;
}

std::int64_t interval_updates(double value, std::int64_t total_updates) {
  return value < 1 ? share_of(total_updates, value) : static_cast<std::int64_t>(value);
}

}  // namespace ranktune::train
