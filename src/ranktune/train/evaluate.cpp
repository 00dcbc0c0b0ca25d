#include "ranktune/train/evaluate.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "ranktune/dist/collectives.h"
#include "ranktune/sampling/sampler.h"
#include "ranktune/train/collate.h"
#include "ranktune/train/loss.h"
#include "ranktune/train/metrics.h"
#include "ranktune/train/ranks.h"

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

Progress progress_of(Progress::Phase phase, const Dataset& dataset, std::int64_t done, double seconds) {
  const auto tokens = static_cast<double>(dataset.tokens.offsets[static_cast<std::size_t>(done)]);
  Progress progress{.phase = phase, .done = done, .total = dataset.rows()};
  progress.rows_per_second = static_cast<double>(done) / seconds;
  progress.tokens_per_second = tokens / seconds;
  progress.seconds_left = static_cast<double>(progress.total - done) / progress.rows_per_second;
  return progress;
}

void append(const at::Tensor& logits, std::vector<float>& values) {
  const at::Tensor on_cpu = logits.to(at::kCPU, at::kFloat).contiguous();
  const auto* data = on_cpu.const_data_ptr<float>();
  values.insert(values.end(), data, data + on_cpu.numel());
}

/// From each rank's share to all rows in their order, and from its sum to that of all ranks.
void collect(dist::ProcessGroup& group, std::int64_t rows, std::int64_t batch_size, Predictions& result,
             double& summed) {
  const std::int64_t labels = result.num_labels;
  const at::Tensor own =
      at::from_blob(result.logits.data(), {std::ssize(result.logits) / labels, labels}, at::kFloat);
  const std::vector<at::Tensor> shares = dist::all_gather(group, own);
  std::vector<float> all;
  all.reserve(static_cast<std::size_t>(rows * labels));
  std::vector<std::int64_t> taken(shares.size(), 0);
  for (std::int64_t begin = 0; begin < rows; begin += batch_size) {
    const auto rank = static_cast<std::size_t>(begin / batch_size % std::ssize(shares));
    const std::int64_t count = std::min(batch_size, rows - begin);
    append(shares[rank].narrow(0, taken[rank], count), all);
    taken[rank] += count;
  }
  result.logits = std::move(all);
  at::Tensor totals = at::tensor({summed, static_cast<double>(result.speed.steps)}, at::kDouble);
  dist::all_reduce_sum(group, totals);
  summed = totals[0].item<double>();
  result.speed.samples = static_cast<double>(rows);
  result.speed.steps = static_cast<std::int64_t>(totals[1].item<double>());
}

}  // namespace

std::int64_t Predictions::best_label(std::int64_t row) const {
  const auto begin = logits.begin() + row * num_labels;
  return std::max_element(begin, begin + num_labels) - begin;
}

PredictionOptions evaluation_options(const TrainingArguments& training) {
  return {.batch_size = rows_per_pass(training.per_device_eval_batch_size, training),
          .phase = Progress::Phase::evaluate,
          .label_smoothing = training.label_smoothing_factor};
}

Predictions predict(const models::SequenceClassifier& model, const Dataset& dataset,
                    const PredictionOptions& options, Observer& observer, dist::ProcessGroup* group) {
  const at::NoGradGuard no_grad;
  const auto started = std::chrono::steady_clock::now();
  const at::Device device = model.named_parameters().front().second.device();
  const std::vector<std::int64_t> rows = sampling::SequentialSampler(dataset.rows()).order(0);
  const std::int64_t ranks = ranks_of(group);
  const std::int64_t first = rank_of(group) * options.batch_size;
  Predictions result{.num_labels = model.config().num_labels()};
  double summed = 0;
  for (std::int64_t begin = first; begin < dataset.rows(); begin += ranks * options.batch_size) {
    const std::int64_t end = std::min(begin + options.batch_size, dataset.rows());
    const std::span<const std::int64_t> part(rows.data() + begin, rows.data() + end);
    const at::Tensor logits =
        model.forward(collate(dataset.tokens, part, begin, device), {.training = false});
    if (dataset.has_labels())
      summed +=
          summed_loss(logits, collate_labels(dataset, part, device), options.label_smoothing).item<double>();
    append(logits, result.logits);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    result.speed = {elapsed.count(), static_cast<double>(end), result.speed.steps + 1};
    observer.progress(progress_of(options.phase, dataset, end, elapsed.count()));
  }
  observer.phase_finished(options.phase);
  if (group != nullptr) collect(*group, dataset.rows(), options.batch_size, result, summed);
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
