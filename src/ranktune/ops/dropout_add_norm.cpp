#include "ranktune/ops/dropout_add_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "ranktune/ops/backward_node.h"
#include "ranktune/ops/kernel_arguments.h"
#include "ranktune/ops/reference.h"

namespace ranktune::ops {
namespace {

using torch::autograd::variable_list;

/// What the backward pass keeps: the sum before the norm, and its mean and 1 / standard deviation per token.
struct DropoutAddNormBackward : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override;
  void release_variables() override { sum = mean = rstd = at::Tensor(); }

  at::Tensor sum, mean, rstd, gamma;
  SequenceLayout layout;
  DropoutMask mask;
};

variable_list DropoutAddNormBackward::apply(variable_list&& gradients) {
  if (!gradients[0].defined()) return variable_list(4);
  const at::Tensor grad_y = gradients[0].contiguous();
  const std::int64_t tokens = grad_y.size(0), channels = grad_y.size(1);
  const std::int64_t blocks = (tokens + cpu::kNormBlock - 1) / cpu::kNormBlock;
  at::Tensor grad_residual = at::empty_like(grad_y);
  // Without a mask both gradients are one and the same.
  at::Tensor grad_x = mask.probability > 0 ? at::empty_like(grad_y) : grad_residual;
  at::Tensor partial = at::empty({blocks, 2, channels}, grad_y.options());
  const cpu::AddNormBackwardArgs args{grad_y.const_data_ptr<float>(),
                                      sum.const_data_ptr<float>(),
                                      mean.const_data_ptr<float>(),
                                      rstd.const_data_ptr<float>(),
                                      gamma.const_data_ptr<float>(),
                                      grad_x.mutable_data_ptr<float>(),
                                      grad_residual.mutable_data_ptr<float>(),
                                      partial.mutable_data_ptr<float>(),
                                      channels,
                                      tokens,
                                      kernel_sequences(layout),
                                      kernel_mask(mask)};
  const cpu::Kernels& kernels = cpu::select_kernels();
  at::parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    kernels.add_norm_backward(args, begin, end);
  });
  const at::Tensor affine = partial.sum(0);
  return {grad_x, grad_residual, affine[0], affine[1]};
}

}  // namespace

at::Tensor dropout_add_norm(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& gamma,
                            const at::Tensor& beta, double epsilon, const SequenceLayout& layout,
                            const DropoutMask& mask) {
  if (!kernels_apply(x)) return reference::dropout_add_norm(x, residual, gamma, beta, epsilon, layout, mask);
  const at::Tensor input = x.contiguous(), base = residual.contiguous();
  const std::int64_t tokens = input.size(0);
  at::Tensor y = at::empty_like(input), sum = at::empty_like(input);
  at::Tensor mean = at::empty({tokens}, input.options()), rstd = at::empty({tokens}, input.options());
  const cpu::AddNormArgs args{input.const_data_ptr<float>(),  base.const_data_ptr<float>(),
                              gamma.const_data_ptr<float>(),  beta.const_data_ptr<float>(),
                              y.mutable_data_ptr<float>(),    sum.mutable_data_ptr<float>(),
                              mean.mutable_data_ptr<float>(), rstd.mutable_data_ptr<float>(),
                              static_cast<float>(epsilon),    input.size(1),
                              kernel_sequences(layout),       kernel_mask(mask)};
  const cpu::Kernels& kernels = cpu::select_kernels();
  at::parallel_for(0, tokens, kTokensPerThread,
                   [&](std::int64_t begin, std::int64_t end) { kernels.add_norm(args, begin, end); });
  if (!needs_backward({x, residual, gamma, beta})) return y;
  auto node = make_node<DropoutAddNormBackward>();
  node->sum = std::move(sum);
  node->mean = std::move(mean);
  node->rstd = std::move(rstd);
  node->gamma = gamma.detach();
  node->layout = layout;
  node->mask = mask;
  return with_history(std::move(y), std::move(node), {x, residual, gamma, beta});
}

}  // namespace ranktune::ops
