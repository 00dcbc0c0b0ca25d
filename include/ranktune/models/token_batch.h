#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ranktune::models {

/// A batch as the list of its tokens, end to end: nothing is padded (docs/architecture.md, decision 1).
/// T tokens in B sequences; T = 0 and B = 0 are legal. Build one with make_token_batch.
struct TokenBatch {
  at::Tensor ids;           ///< [T] int64, on the model's device
  at::Tensor type_ids;      ///< [T] int64, on the model's device
  at::Tensor position_ids;  ///< [T] int64, on the model's device; place of each token in its sequence
  at::Tensor offsets;  ///< [B + 1] int64, on the CPU; sequence i is tokens offsets[i] .. offsets[i + 1] - 1
  at::Tensor rows;     ///< [B] int64, on the CPU; place of each sequence in the global batch of its update

  std::int64_t sequences() const { return rows.size(0); }
  std::int64_t tokens() const { return ids.size(0); }
  TokenBatch to(at::Device device) const;
};

/// Parts of a batch as plain vectors; `offsets` starts with 0 and has one entry more than `rows`.
/// REQUIRES: ids, type_ids of offsets.back() entries; every sequence has at least one token.
TokenBatch make_token_batch(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& type_ids,
                            const std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& rows,
                            at::Device device);

/// Sequences first .. end - 1 as a batch of their own. Their rows keep their numbers, hence their dropout.
TokenBatch slice(const TokenBatch& batch, std::int64_t first, std::int64_t end);

/// What a forward pass needs to know beside its input. Dropout masks are a function of these numbers and of
/// the place of an element in the batch, never of a generator's state (docs/architecture.md, decision 3).
struct ForwardContext {
  bool training = false;  ///< dropout happens only when true
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< number of the update, from 0
};

}  // namespace ranktune::models
