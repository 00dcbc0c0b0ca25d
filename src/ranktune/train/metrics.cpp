#include "ranktune/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ranktune::train {
namespace {

double ratio(double numerator, double denominator) {
  return denominator == 0 ? 0.0 : numerator / denominator;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double pearson_of(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean_a = mean(a), mean_b = mean(b);
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  const auto constant = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  };
  if (constant(a) || constant(b)) return std::numeric_limits<double>::quiet_NaN();
  // Two roots: the product of the squares may overflow where the roots do not. NaN passes through clamp.
  return std::clamp(product / (std::sqrt(square_a) * std::sqrt(square_b)), -1.0, 1.0);
}

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

bool holds_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::int64_t num_classes)
    : num_classes_(num_classes), counts_(static_cast<std::size_t>(num_classes * num_classes)) {}

std::int64_t& ConfusionMatrix::cell(std::int64_t label, std::int64_t prediction) {
  return counts_[static_cast<std::size_t>(label * num_classes_ + prediction)];
}

std::int64_t ConfusionMatrix::count(std::int64_t label, std::int64_t prediction) const {
  return counts_[static_cast<std::size_t>(label * num_classes_ + prediction)];
}

void ConfusionMatrix::merge(const ConfusionMatrix& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::int64_t ConfusionMatrix::rows() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::int64_t ConfusionMatrix::labelled(std::int64_t label) const {
  std::int64_t sum = 0;
  for (std::int64_t other = 0; other < num_classes_; ++other) sum += count(label, other);
  return sum;
}

std::int64_t ConfusionMatrix::predicted(std::int64_t label) const {
  std::int64_t sum = 0;
  for (std::int64_t other = 0; other < num_classes_; ++other) sum += count(other, label);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  std::int64_t correct = 0;
  for (std::int64_t label = 0; label < num_classes_; ++label) correct += count(label, label);
  return ratio(static_cast<double>(correct), static_cast<double>(rows()));
}

ClassScores ConfusionMatrix::scores(std::int64_t label) const {
  const auto hits = static_cast<double>(count(label, label));
  const auto positives = static_cast<double>(predicted(label));
  const std::int64_t support = labelled(label);
  return {ratio(hits, positives), ratio(hits, static_cast<double>(support)),
          ratio(2 * hits, positives + static_cast<double>(support)), support};
}

double ConfusionMatrix::macro_f1() const {
  double sum = 0;
  std::int64_t present = 0;
  for (std::int64_t label = 0; label < num_classes_; ++label) {
    if (labelled(label) + predicted(label) == 0) continue;
    sum += scores(label).f1;
    ++present;
  }
  return ratio(sum, static_cast<double>(present));
}

double ConfusionMatrix::weighted_f1() const {
  double sum = 0;
  for (std::int64_t label = 0; label < num_classes_; ++label) {
    const ClassScores of_class = scores(label);
    sum += of_class.f1 * static_cast<double>(of_class.support);
  }
  return ratio(sum, static_cast<double>(rows()));
}

double ConfusionMatrix::matthews_correlation() const {
  const auto all = static_cast<double>(rows());
  double correct = 0, cross = 0, labels_squared = 0, predictions_squared = 0;
  for (std::int64_t label = 0; label < num_classes_; ++label) {
    const auto of_labels = static_cast<double>(labelled(label)),
               of_predictions = static_cast<double>(predicted(label));
    correct += static_cast<double>(count(label, label));
    cross += of_labels * of_predictions;
    labels_squared += of_labels * of_labels;
    predictions_squared += of_predictions * of_predictions;
  }
  const double spread = std::sqrt(all * all - labels_squared) * std::sqrt(all * all - predictions_squared);
  return ratio(correct * all - cross, spread);
}

void RegressionScores::add(double label, double prediction) {
  labels_.push_back(label);
  predictions_.push_back(prediction);
}

void RegressionScores::merge(const RegressionScores& other) {
  labels_.insert(labels_.end(), other.labels_.begin(), other.labels_.end());
  predictions_.insert(predictions_.end(), other.predictions_.begin(), other.predictions_.end());
}

double RegressionScores::mean_squared_error() const {
  double sum = 0;
  for (std::size_t i = 0; i < labels_.size(); ++i)
    sum += (labels_[i] - predictions_[i]) * (labels_[i] - predictions_[i]);
  return sum / static_cast<double>(labels_.size());
}

double RegressionScores::mean_absolute_error() const {
  double sum = 0;
  for (std::size_t i = 0; i < labels_.size(); ++i) sum += std::abs(labels_[i] - predictions_[i]);
  return sum / static_cast<double>(labels_.size());
}

double RegressionScores::pearson() const {
  return pearson_of(labels_, predictions_);
}

double RegressionScores::spearman() const {
  // NaN has no rank, and sorting by it is undefined.
  if (holds_nan(labels_) || holds_nan(predictions_)) return std::numeric_limits<double>::quiet_NaN();
  return pearson_of(ranks_of(labels_), ranks_of(predictions_));
}

}  // namespace ranktune::train
