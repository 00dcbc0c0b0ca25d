#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <utility>

#include "ranktune/compat/make_node.h"

namespace ranktune::ops {

using compat::make_node;

/// Whether an operation on these tensors has to remember how to go backward.
inline bool needs_backward(const torch::autograd::variable_list& inputs) {
  if (!at::GradMode::is_enabled()) return false;
  for (const at::Tensor& input : inputs)
    if (input.requires_grad()) return true;
  return false;
}

/// Makes `node` the producer of `output`. A node must not keep `output` itself, which would keep the node:
/// output.detach() shares the memory without the history.
template <typename NodePointer>
at::Tensor with_history(at::Tensor output, NodePointer node, const torch::autograd::variable_list& inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(output, std::move(node));
  return output;
}

}  // namespace ranktune::ops
