#include "ranktune/models/data_parallel_classifier.h"

#include <ATen/ThreadLocalState.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

#include "ranktune/core/threads.h"

namespace ranktune::models {

DataParallelClassifier::DataParallelClassifier(std::unique_ptr<SequenceClassifier> model,
                                               std::vector<at::Device> devices)
    : WrappedClassifier(std::move(model)), devices_(std::move(devices)) {}

std::unique_ptr<SequenceClassifier> DataParallelClassifier::with_parameters(NamedTensors parameters) const {
  return std::make_unique<DataParallelClassifier>(model().with_parameters(std::move(parameters)), devices_);
}

/// Copying is differentiable: that is how gradients find back.
std::unique_ptr<SequenceClassifier> DataParallelClassifier::copy_to(at::Device device) const {
  NamedTensors copies;
  for (const auto& [name, parameter] : model().named_parameters())
    copies.emplace_back(name, parameter.to(device));
  return model().with_parameters(std::move(copies));
}

at::Tensor DataParallelClassifier::forward(const TokenBatch& batch, const ForwardContext& context) const {
  const auto devices = static_cast<std::int64_t>(devices_.size());
  const std::int64_t share = std::max<std::int64_t>(1, (batch.sequences() + devices - 1) / devices);
  const std::int64_t parts = std::max<std::int64_t>(1, (batch.sequences() + share - 1) / share);
  if (parts == 1) return model().forward(batch, context);
  std::vector<at::Tensor> logits(static_cast<std::size_t>(parts));
  const at::ThreadLocalState state;
  core::run_in_threads(logits.size(), [&](std::size_t i) {
    const at::ThreadLocalStateGuard as_caller(state);
    const std::int64_t first = static_cast<std::int64_t>(i) * share;
    const TokenBatch own = slice(batch, first, std::min(first + share, batch.sequences())).to(devices_[i]);
    const at::Tensor found =
        i == 0 ? model().forward(own, context) : copy_to(devices_[i])->forward(own, context);
    logits[i] = found.to(devices_.front());
  });
  return at::cat(logits);
}

}  // namespace ranktune::models
