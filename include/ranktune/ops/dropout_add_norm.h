#pragma once

#include <ATen/core/Tensor.h>

#include "ranktune/ops/dropout.h"

namespace ranktune::ops {

/// The end of every sublayer of a post-norm encoder in one pass:
/// layer_norm(residual + dropout(x)) * gamma + beta over the last dimension.
/// x, residual: [T, C]; gamma, beta: [C]; epsilon is added to the variance. Differentiable in all four.
at::Tensor dropout_add_norm(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& gamma,
                            const at::Tensor& beta, double epsilon, const SequenceLayout& layout,
                            const DropoutMask& mask);

}  // namespace ranktune::ops
