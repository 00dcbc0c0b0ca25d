#include "ranktune/ops/reference.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <vector>

#include "ranktune/core/random.h"
#include "ranktune/ops/kernel_arguments.h"

namespace ranktune::ops::reference {
namespace {

/// Factors of `channels` elements that share a token number and a row.
void fill_factors(const cpu::Mask& mask, std::uint32_t token, std::uint32_t row, std::int64_t channels,
                  float* out) {
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto counter = static_cast<std::uint32_t>(channel / 64 * 16 + channel % 16);
    const auto words = core::philox4x32({counter, token, row, mask.step}, {mask.key0, mask.key1});
    out[channel] = words[static_cast<std::size_t>(channel / 16 % 4)] < mask.threshold ? 0.0F : mask.scale;
  }
}

/// [heads, queries, keys] for one sequence.
at::Tensor attention_factors(std::int64_t heads, std::int64_t queries, std::int64_t keys, std::int64_t row,
                             const DropoutMask& mask) {
  at::Tensor factors = at::empty({heads, queries, keys}, at::kFloat);
  auto* out = factors.mutable_data_ptr<float>();
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t query = 0; query < queries; ++query, out += keys)
      fill_factors(kernel_mask(mask), static_cast<std::uint32_t>(query + 65536 * head),
                   static_cast<std::uint32_t>(row), keys, out);
  return factors;
}

}  // namespace

at::Tensor dropout_factors(std::int64_t channels, const SequenceLayout& layout, const DropoutMask& mask) {
  const cpu::Sequences sequences = kernel_sequences(layout);
  at::Tensor factors = at::empty({sequences.offsets[sequences.count], channels}, at::kFloat);
  auto* out = factors.mutable_data_ptr<float>();
  for (std::int64_t s = 0; s < sequences.count; ++s)
    for (std::int64_t token = sequences.offsets[s]; token < sequences.offsets[s + 1]; ++token)
      fill_factors(kernel_mask(mask), static_cast<std::uint32_t>(token - sequences.offsets[s]),
                   static_cast<std::uint32_t>(sequences.rows[s]), channels, out + token * channels);
  return factors;
}

at::Tensor dropout(const at::Tensor& x, const SequenceLayout& layout, const DropoutMask& mask) {
  if (mask.probability <= 0) return x;
  return x * dropout_factors(x.size(1), layout, mask).to(x.options());
}

at::Tensor dropout_add_norm(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& gamma,
                            const at::Tensor& beta, double epsilon, const SequenceLayout& layout,
                            const DropoutMask& mask) {
  return at::layer_norm(residual + reference::dropout(x, layout, mask), {x.size(1)}, gamma, beta, epsilon);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     Queries queries, const SequenceLayout& layout, const DropoutMask& mask) {
  const cpu::Sequences sequences = kernel_sequences(layout);
  const std::int64_t width = q.size(1), head_dim = width / heads;
  const auto by_head = [&](const at::Tensor& x) {
    return x.view({x.size(0), heads, head_dim}).transpose(0, 1);
  };
  std::vector<at::Tensor> outputs;
  for (std::int64_t s = 0; s < sequences.count; ++s) {
    const std::int64_t first = sequences.offsets[s], keys = sequences.offsets[s + 1] - first;
    const at::Tensor own = queries == Queries::all_tokens ? q.narrow(0, first, keys) : q.narrow(0, s, 1);
    at::Tensor scores = at::matmul(by_head(own), by_head(k.narrow(0, first, keys)).transpose(1, 2));
    at::Tensor weights = at::softmax(scores / std::sqrt(static_cast<double>(head_dim)), -1);
    if (mask.probability > 0)
      weights =
          weights * attention_factors(heads, own.size(0), keys, sequences.rows[s], mask).to(q.options());
    const at::Tensor out = at::matmul(weights, by_head(v.narrow(0, first, keys)));
    outputs.push_back(out.transpose(0, 1).reshape({own.size(0), width}));
  }
  return outputs.empty() ? at::zeros_like(q) : at::cat(outputs);
}

}  // namespace ranktune::ops::reference
