#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ranktune/models/sequence_classifier.h"

namespace ranktune::models {

/// One process, several devices: each computes its share of a batch's sequences on a copy of the parameters,
/// in a thread of its own, and gradients come together in the parameters of the first. Dropout goes by the
/// row, so values are those of one device up to rounding.
class DataParallelClassifier final : public WrappedClassifier {
 public:
  /// REQUIRES: the model on devices.front(). A device named twice computes two shares.
  DataParallelClassifier(std::unique_ptr<SequenceClassifier> model, std::vector<at::Device> devices);

  at::Tensor forward(const TokenBatch& batch, const ForwardContext& context) const override;
  std::unique_ptr<SequenceClassifier> with_parameters(NamedTensors parameters) const override;

 private:
  std::unique_ptr<SequenceClassifier> copy_to(at::Device device) const;

  std::vector<at::Device> devices_;
};

}  // namespace ranktune::models
