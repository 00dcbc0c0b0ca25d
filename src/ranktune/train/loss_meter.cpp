#include "ranktune/train/loss_meter.h"

#include <cmath>

namespace ranktune::train {

void LossMeter::add(double loss) {
  sum_ += std::isfinite(loss) ? loss : sum_ / static_cast<double>(1 + updates_);
  ++updates_;
}

double LossMeter::take_mean() {
  const double mean = sum_ / static_cast<double>(updates_);
  total_sum_ += sum_;
  total_updates_ += updates_;
  sum_ = 0;
  updates_ = 0;
  return mean;
}

double LossMeter::total_mean() const {
  const std::int64_t updates = total_updates_ + updates_;
  return updates == 0 ? 0.0 : (total_sum_ + sum_) / static_cast<double>(updates);
}

}  // namespace ranktune::train
