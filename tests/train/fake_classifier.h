#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ranktune/models/sequence_classifier.h"
#include "ranktune/train/dataset.h"

namespace ranktune::tests {

/// What a model was asked for in one training step.
struct SeenBatch {
  std::vector<std::int64_t> first_ids =
      {};                                 ///< the first token of each row: the row's number in numbered_rows
  std::vector<std::int64_t> places = {};  ///< TokenBatch::rows
  std::uint64_t step = 0;
  std::uint64_t seed = 0;
};

/// The sum of a row's token vectors, then a linear layer: a model whose results can be worked out by hand.
/// Remembers the batches of training.
class FakeClassifier final : public models::SequenceClassifier {
 public:
  FakeClassifier(std::int64_t vocabulary, std::int64_t labels) {
    config_.id2label.clear();
    for (std::int64_t i = 0; i < labels; ++i) config_.id2label.push_back("label" + std::to_string(i));
    add("embeddings.weight", {vocabulary, kWidth}, 0.7);
    add("classifier.weight", {labels, kWidth}, 1.3);
    add("classifier.bias", {labels}, 2.1);
  }

  at::Tensor forward(const models::TokenBatch& batch, const models::ForwardContext& context) const override {
    if (context.training) remember(batch, context);
    const at::Tensor vectors = at::embedding(parameter(0), batch.ids);
    at::Tensor row_of_token = at::zeros({batch.tokens()}, at::kLong);
    for (std::int64_t row = 0; row < batch.sequences(); ++row) {
      const auto begin = offset(batch, row), end = offset(batch, row + 1);
      row_of_token.narrow(0, begin, end - begin).fill_(row);
    }
    const at::Tensor sums = at::zeros({batch.sequences(), kWidth}).index_add(0, row_of_token, vectors);
    const at::Tensor logits = at::linear(sums, parameter(1), parameter(2));
    const auto broken = context.training ? factors.find(context.step) : factors.end();
    return broken == factors.end() ? logits : logits * broken->second;
  }

  const models::NamedTensors& named_parameters() const override { return parameters_; }
  const models::ModelConfig& config() const override { return config_; }
  std::unique_ptr<SequenceClassifier> with_parameters(models::NamedTensors) const override { return nullptr; }

  /// All parameters as one list of numbers.
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const auto& [name, tensor] : parameters_) {
      const auto* data = tensor.const_data_ptr<float>();
      all.insert(all.end(), data, data + tensor.numel());
    }
    return all;
  }

  std::map<std::uint64_t, double> factors;  ///< logits of these steps are multiplied, for instance by NaN
  mutable std::vector<SeenBatch> seen;

 private:
  static constexpr std::int64_t kWidth = 3;

  /// Values that are different from each other and the same in every run.
  void add(const std::string& name, std::vector<std::int64_t> shape, double phase) {
    at::Tensor tensor = at::zeros(shape);
    auto* data = tensor.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      data[i] = static_cast<float>(0.5 * std::sin(phase * static_cast<double>(i + 1)));
    parameters_.emplace_back(name, tensor.set_requires_grad(true));
  }
  const at::Tensor& parameter(std::size_t number) const { return parameters_[number].second; }
  static std::int64_t offset(const models::TokenBatch& batch, std::int64_t place) {
    return batch.offsets.const_data_ptr<std::int64_t>()[place];
  }
  void remember(const models::TokenBatch& batch, const models::ForwardContext& context) const {
    SeenBatch step{.step = context.step, .seed = context.seed};
    for (std::int64_t row = 0; row < batch.sequences(); ++row) {
      step.first_ids.push_back(batch.ids.const_data_ptr<std::int64_t>()[offset(batch, row)]);
      step.places.push_back(batch.rows.const_data_ptr<std::int64_t>()[row]);
    }
    seen.push_back(std::move(step));
  }

  models::ModelConfig config_;
  models::NamedTensors parameters_;
};

/// Rows whose first token is their number, with `lengths` tokens (one each, when empty) and classes 0, 1,
/// 0, 1...
inline train::Dataset numbered_rows(std::int64_t rows, const std::vector<std::int64_t>& lengths = {}) {
  train::Dataset dataset;
  dataset.tokens.offsets = {0};
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = lengths.empty() ? 1 : lengths[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < length; ++i)
      dataset.tokens.ids.push_back(static_cast<std::int32_t>(i == 0 ? row : i % rows));
    dataset.tokens.type_ids.resize(dataset.tokens.ids.size(), 0);
    dataset.tokens.offsets.push_back(static_cast<std::int64_t>(dataset.tokens.ids.size()));
    dataset.classes.push_back(row % 2);
  }
  return dataset;
}

}  // namespace ranktune::tests
