#pragma once

#include <ATen/core/Tensor.h>

#include "ranktune/ops/cpu/kernels.h"
#include "ranktune/ops/dropout.h"

/// From tensors to the raw pointers of cpu/kernels.h.
namespace ranktune::ops {

inline cpu::Mask kernel_mask(const DropoutMask& mask) {
  if (mask.probability <= 0) return {};
  constexpr double kWords = 4294967296.0;
  return {static_cast<std::uint32_t>(mask.seed), mask.site ^ static_cast<std::uint32_t>(mask.seed >> 32),
          static_cast<std::uint32_t>(mask.step), static_cast<std::uint32_t>(mask.probability * kWords + 0.5),
          static_cast<float>(1.0 / (1.0 - mask.probability))};
}

inline cpu::Sequences kernel_sequences(const SequenceLayout& layout) {
  return {layout.offsets.const_data_ptr<std::int64_t>(), layout.rows.const_data_ptr<std::int64_t>(),
          layout.rows.size(0)};
}

/// Whether the kernels can take this tensor.
inline bool kernels_apply(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat;
}

/// Tokens that one thread takes at least: below this, starting threads costs more than it saves.
inline constexpr std::int64_t kTokensPerThread = 32;

}  // namespace ranktune::ops
