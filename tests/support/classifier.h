#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <vector>

#include "ranktune/models/sequence_classifier.h"
#include "ranktune/models/token_batch.h"
#include "support/fixture.h"

/// A small real model and batches for it.
namespace ranktune::tests {

inline std::unique_ptr<models::SequenceClassifier> tiny_classifier() {
  return models::load_sequence_classifier(fixture_path("tiny_bert_classifier"), {}).model;
}

/// `sequences` rows of 3 to 17 tokens, their ids and lengths all over the place.
inline models::TokenBatch batch_of(std::int64_t sequences, std::int64_t first_row = 0) {
  std::vector<std::int64_t> ids, offsets{0}, rows;
  for (std::int64_t row = 0; row < sequences; ++row) {
    for (std::int64_t token = 0; token < 3 + row * 7 % 15; ++token)
      ids.push_back(5 + (row * 31 + token * 17) % 60);
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
    rows.push_back(first_row + row);
  }
  return models::make_token_batch(ids, std::vector<std::int64_t>(ids.size(), 0), offsets, rows, at::kCPU);
}

inline double difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// Of the sum of squared logits, dense ones.
inline std::vector<at::Tensor> gradients_of(const models::SequenceClassifier& model,
                                            const at::Tensor& logits) {
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : model.named_parameters()) parameters.push_back(parameter);
  std::vector<at::Tensor> gradients = torch::autograd::grad({(logits * logits).sum()}, parameters);
  for (at::Tensor& gradient : gradients)
    if (gradient.is_sparse()) gradient = gradient.to_dense();
  return gradients;
}

}  // namespace ranktune::tests
