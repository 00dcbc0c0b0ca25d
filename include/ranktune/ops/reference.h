#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ranktune/ops/attention.h"
#include "ranktune/ops/dropout.h"

/// The fused operations written with plain ATen operators: what the fast paths are tested against, and what
/// runs on devices and types that have no fast path. Same signatures, same results up to rounding.
namespace ranktune::ops::reference {

/// [T, channels] float32 on the CPU: 0 where an element is dropped, 1 / (1 - probability) elsewhere.
at::Tensor dropout_factors(std::int64_t channels, const SequenceLayout& layout, const DropoutMask& mask);

at::Tensor dropout(const at::Tensor& x, const SequenceLayout& layout, const DropoutMask& mask);

at::Tensor dropout_add_norm(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& gamma,
                            const at::Tensor& beta, double epsilon, const SequenceLayout& layout,
                            const DropoutMask& mask);

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     Queries queries, const SequenceLayout& layout, const DropoutMask& mask);

}  // namespace ranktune::ops::reference
