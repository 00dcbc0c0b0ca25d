#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// Dropout whose mask is a function of place and time, not the state of a generator (docs/architecture.md,
/// decision 3).
namespace ranktune::ops {

/// Where sequences lie in a packed batch, and which rows of the update they are. Both int64, contiguous, on
/// the CPU.
struct SequenceLayout {
  at::Tensor offsets;  ///< [B + 1]
  at::Tensor rows;     ///< [B]
};

/// Which mask. The 32 bits for element (token of row, channel) are word (channel / 16) % 4 of
/// philox4x32(counter {channel / 64 * 16 + channel % 16, token, row, step}, key {seed, site ^ seed >> 32}),
/// and the element is dropped when they are below probability * 2^32. In attention the channel is the key and
/// the token is query + 65536 * head.
struct DropoutMask {
  double probability = 0;  ///< 0: nothing is dropped. REQUIRES: 0 <= probability < 1
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< number of the update; its low 32 bits count
  std::uint32_t site = 0;  ///< the dropout's number in the model
};

/// mask * x / (1 - probability). x: [T, C], T = layout.offsets[B]; any float type. Differentiable.
at::Tensor dropout(const at::Tensor& x, const SequenceLayout& layout, const DropoutMask& mask);

}  // namespace ranktune::ops
