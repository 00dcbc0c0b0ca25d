#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ranktune/ops/dropout.h"

namespace ranktune::ops {

/// Which tokens ask. What a classifier reads of its last layer is the first token alone.
enum class Queries { all_tokens, first_tokens };

/// Scaled dot-product attention of every sequence over itself, with dropout on the probabilities; nothing is
/// padded. q: [T, H], or [B, H] for Queries::first_tokens; k, v: [T, H]; H = heads * head_dim. Result: as q.
/// Differentiable in q, k and v; the backward pass computes the probabilities again instead of keeping them.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     Queries queries, const SequenceLayout& layout, const DropoutMask& mask);

}  // namespace ranktune::ops
