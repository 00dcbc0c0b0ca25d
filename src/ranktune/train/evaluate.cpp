#include "ranktune/train/evaluate.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "ranktune/train/collate.h"
#include "ranktune/train/loss.h"
#include "ranktune/train/metrics.h"

namespace ranktune::train {
namespace {

ConfusionMatrix confusion_of(const Predictions& predictions, const Dataset& dataset) {
  ConfusionMatrix matrix(predictions.num_labels);
  for (std::int64_t row = 0; row < dataset.rows(); ++row)
    matrix.add(dataset.classes[static_cast<std::size_t>(row)], predictions.best_label(row));
  return matrix;
}

double squared_error_of(const Predictions& predictions, const Dataset& dataset) {
  RegressionScores scores;
  for (std::size_t row = 0; row < dataset.targets.size(); ++row)
    scores.add(dataset.targets[row], predictions.logits[row]);
  return scores.mean_squared_error();
}

Progress progress_of(Progress::Phase phase, std::int64_t done, std::int64_t total, std::int64_t tokens,
                     double seconds) {
  Progress progress{.phase = phase, .done = done, .total = total};
  progress.rows_per_second = static_cast<double>(done) / seconds;
  progress.tokens_per_second = static_cast<double>(tokens) / seconds;
  progress.seconds_left = static_cast<double>(total - done) / progress.rows_per_second;
  return progress;
}

}  // namespace

std::int64_t Predictions::best_label(std::int64_t row) const {
  const auto begin = logits.begin() + row * num_labels;
  return std::max_element(begin, begin + num_labels) - begin;
}

Predictions predict(const models::SequenceClassifier& model, const Dataset& dataset, std::int64_t batch_size,
                    Observer& observer, Progress::Phase phase) {
  const at::NoGradGuard no_grad;
  const auto started = std::chrono::steady_clock::now();
  const at::Device device = model.named_parameters().front().second.device();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  Predictions result{.num_labels = model.config().num_labels()};
  double summed = 0;
  for (std::int64_t begin = 0; begin < dataset.rows(); begin += batch_size) {
    const std::int64_t end = std::min(begin + batch_size, dataset.rows());
    const auto part =
        std::span(rows).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    const at::Tensor logits =
        model.forward(collate(dataset.tokens, part, begin, device), {.training = false});
    if (dataset.has_labels())
      summed += summed_loss(logits, collate_labels(dataset, part, device)).item<double>();
    const at::Tensor values = logits.to(at::kCPU, at::kFloat).contiguous();
    const auto* data = values.const_data_ptr<float>();
    result.logits.insert(result.logits.end(), data, data + values.numel());
    ++result.speed.steps;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    result.speed.seconds = elapsed.count();
    observer.progress(progress_of(phase, end, dataset.rows(),
                                  dataset.tokens.offsets[static_cast<std::size_t>(end)],
                                  result.speed.seconds));
  }
  observer.phase_finished(phase);
  result.speed.samples = static_cast<double>(dataset.rows());
  result.loss = summed / static_cast<double>(dataset.rows());
  return result;
}

Evaluation measure(const Predictions& predictions, const Dataset& dataset,
                   const std::vector<std::string>& label_names) {
  Evaluation evaluation{.figures = {{"eval_loss", predictions.loss}}};
  if (!dataset.targets.empty()) {
    evaluation.figures.emplace_back("eval_mse", squared_error_of(predictions, dataset));
  } else {
    const ConfusionMatrix matrix = confusion_of(predictions, dataset);
    evaluation.figures.emplace_back("eval_accuracy", matrix.accuracy());
    evaluation.macro_f1 = matrix.macro_f1();
    for (std::int64_t label = 0; label < matrix.num_classes(); ++label) {
      const ClassScores scores = matrix.scores(label);
      evaluation.classes.push_back({label_names[static_cast<std::size_t>(label)], scores.precision,
                                    scores.recall, scores.f1, scores.support});
    }
  }
  for (auto& figure : speed_figures("eval", predictions.speed))
    evaluation.figures.push_back(std::move(figure));
  return evaluation;
}

}  // namespace ranktune::train
