#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ranktune/models/sequence_classifier.h"

namespace ranktune::models {

/// A model on the CPU that deals the sequences of a batch among threads: each computes its own from the first
/// layer to the last and back, so that threads meet twice per update instead of at every matrix product.
/// Gradients are the sum of the threads', added in the order of the sequences; values differ from the model's
/// own by rounding alone.
class ThreadedClassifier final : public WrappedClassifier {
 public:
  /// REQUIRES: a model on the CPU; threads >= 1.
  ThreadedClassifier(std::unique_ptr<SequenceClassifier> model, std::int64_t threads);

  at::Tensor forward(const TokenBatch& batch, const ForwardContext& context) const override;
  std::unique_ptr<SequenceClassifier> with_parameters(NamedTensors parameters) const override;

 private:
  /// One per thread: the model's own memory, with gradients of their own.
  std::vector<std::shared_ptr<const SequenceClassifier>> shares_;
};

/// Where to cut a batch for `parts` threads: boundaries b with b.front() = 0 and b.back() = B, part i being
/// sequences b[i] .. b[i + 1] - 1, of about as many tokens as every other. One part where threads would have
/// too little to do each.
std::vector<std::int64_t> share_sequences(const TokenBatch& batch, std::int64_t parts);

}  // namespace ranktune::models
