#include "ranktune/models/threaded_classifier.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ranktune/ops/backward_node.h"

namespace ranktune::models {
namespace {

using torch::autograd::variable_list;

/// Fewer, and the threads' matrix products are too small: each thread reads all weights once.
constexpr std::int64_t kMinTokensPerThread = 64;
/// Fewer, and one thread's share is too unlike the next one's.
constexpr std::int64_t kMinSequencesPerThread = 4;
/// More, and the threads' gradients, a set for each, cost more than they bring.
constexpr std::int64_t kMaxThreads = 8;

variable_list tensors_of(const SequenceClassifier& model) {
  variable_list tensors;
  for (const auto& [name, parameter] : model.named_parameters())
    if (parameter.requires_grad()) tensors.push_back(parameter);
  return tensors;
}

std::unique_ptr<SequenceClassifier> share_memory(const SequenceClassifier& model) {
  NamedTensors shared;
  for (const auto& [name, parameter] : model.named_parameters())
    shared.emplace_back(name, parameter.detach().set_requires_grad(parameter.requires_grad()));
  return model.with_parameters(std::move(shared));
}

/// Calls work(i) for each part, in threads of their own; operations inside find one thread each.
template <typename Work>
void for_each_part(std::size_t parts, Work work) {
  at::parallel_for(0, static_cast<std::int64_t>(parts), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) work(static_cast<std::size_t>(part));
  });
}

/// One thread's part of a forward pass.
struct Part {
  std::shared_ptr<const SequenceClassifier> model;
  at::Tensor logits;
};

struct ThreadedBackward : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override;
  void release_variables() override { parts.clear(); }

  std::vector<Part> parts;
};

variable_list ThreadedBackward::apply(variable_list&& gradients) {
  TORCH_CHECK(!parts.empty(), "a second backward pass through the same batch: run its forward pass again");
  if (!gradients[0].defined()) return variable_list(tensors_of(*parts.front().model).size());
  std::vector<at::Tensor> shares;
  std::int64_t sequence = 0;
  for (const Part& part : parts) {
    shares.push_back(gradients[0].narrow(0, sequence, part.logits.size(0)));
    sequence += part.logits.size(0);
  }
  std::vector<variable_list> found(parts.size());
  for_each_part(parts.size(), [&](std::size_t i) {
    found[i] = torch::autograd::grad({parts[i].logits}, tensors_of(*parts[i].model), {shares[i]},
                                     /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
    parts[i].logits.reset();
  });
  variable_list sum = std::move(found.front());
  for (std::size_t i = 1; i < found.size(); ++i)
    for (std::size_t p = 0; p < sum.size(); ++p)
      if (sum[p].defined()) sum[p].add_(found[i][p]);
  return sum;
}

}  // namespace

std::vector<std::int64_t> share_sequences(const TokenBatch& batch, std::int64_t parts) {
  const std::int64_t sequences = batch.sequences(), tokens = batch.tokens();
  const std::vector<std::int64_t> together{0, sequences};
  if (parts > kMaxThreads || sequences < parts * kMinSequencesPerThread ||
      tokens < parts * kMinTokensPerThread)
    return together;
  const auto* offsets = batch.offsets.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> boundaries{0};
  for (std::int64_t part = 1; part <= parts; ++part) {
    const std::int64_t wanted = tokens * part / parts;
    std::int64_t boundary = std::lower_bound(offsets, offsets + sequences, wanted) - offsets;
    if (boundary > 0 && wanted - offsets[boundary - 1] < offsets[boundary] - wanted) --boundary;
    const std::int64_t share = offsets[boundary] - offsets[boundaries.back()];
    if (2 * share * parts > 3 * tokens || share == 0) return together;  // a sequence outweighs the others
    boundaries.push_back(boundary);
  }
  return boundaries;
}

ThreadedClassifier::ThreadedClassifier(std::unique_ptr<SequenceClassifier> model, std::int64_t threads)
    : WrappedClassifier(std::move(model)) {
  for (std::int64_t i = 0; i < threads; ++i) shares_.push_back(share_memory(this->model()));
}

std::unique_ptr<SequenceClassifier> ThreadedClassifier::with_parameters(NamedTensors parameters) const {
  return std::make_unique<ThreadedClassifier>(model().with_parameters(std::move(parameters)),
                                              static_cast<std::int64_t>(shares_.size()));
}

at::Tensor ThreadedClassifier::forward(const TokenBatch& batch, const ForwardContext& context) const {
  const std::vector<std::int64_t> boundaries =
      share_sequences(batch, static_cast<std::int64_t>(shares_.size()));
  if (boundaries.size() == 2) return model().forward(batch, context);
  const bool with_gradients = at::GradMode::is_enabled();  // each thread has its own switch
  std::vector<Part> parts(boundaries.size() - 1);
  for_each_part(parts.size(), [&](std::size_t i) {
    const at::AutoGradMode as_caller(with_gradients);
    parts[i].model = shares_[i];
    parts[i].logits = shares_[i]->forward(slice(batch, boundaries[i], boundaries[i + 1]), context);
  });
  std::vector<at::Tensor> logits;
  for (const Part& part : parts) logits.push_back(part.logits.detach());
  at::Tensor all = at::cat(logits);
  const variable_list parameters = tensors_of(model());
  if (!ops::needs_backward(parameters)) return all;
  auto node = ops::make_node<ThreadedBackward>();
  node->parts = std::move(parts);
  return ops::with_history(std::move(all), std::move(node), parameters);
}

}  // namespace ranktune::models
