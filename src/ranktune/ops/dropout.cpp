#include "ranktune/ops/dropout.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>

#include "ranktune/ops/backward_node.h"
#include "ranktune/ops/kernel_arguments.h"
#include "ranktune/ops/reference.h"

namespace ranktune::ops {
namespace {

using torch::autograd::variable_list;

at::Tensor apply_mask(const at::Tensor& input, const SequenceLayout& layout, const DropoutMask& mask) {
  const at::Tensor x = input.contiguous();
  at::Tensor y = at::empty_like(x);
  const cpu::DropoutArgs args{x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.size(1),
                              kernel_sequences(layout), kernel_mask(mask)};
  const cpu::Kernels& kernels = cpu::select_kernels();
  at::parallel_for(0, x.size(0), kTokensPerThread,
                   [&](std::int64_t begin, std::int64_t end) { kernels.dropout(args, begin, end); });
  return y;
}

/// The gradient passes through the same mask, which is drawn again instead of kept.
struct DropoutBackward : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor()};
    return {apply_mask(gradients[0], layout, mask)};
  }
  SequenceLayout layout;
  DropoutMask mask;
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, const SequenceLayout& layout, const DropoutMask& mask) {
  if (mask.probability <= 0) return x;
  if (!kernels_apply(x)) return reference::dropout(x, layout, mask);
  at::Tensor y = apply_mask(x.detach(), layout, mask);
  if (!needs_backward({x})) return y;
  auto node = make_node<DropoutBackward>();
  node->layout = layout;
  node->mask = mask;
  return with_history(std::move(y), std::move(node), {x});
}

}  // namespace ranktune::ops
