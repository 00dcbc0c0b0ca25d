#include "ranktune/models/token_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace ranktune::models {
namespace {

at::Tensor to_tensor(const std::vector<std::int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int64_t>());
  return tensor;
}

}  // namespace

TokenBatch make_token_batch(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& type_ids,
                            const std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& rows,
                            at::Device device) {
  std::vector<std::int64_t> positions;
  positions.reserve(ids.size());
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    for (std::int64_t place = 0; place < offsets[s + 1] - offsets[s]; ++place) positions.push_back(place);
  return {to_tensor(ids).to(device), to_tensor(type_ids).to(device), to_tensor(positions).to(device),
          to_tensor(offsets), to_tensor(rows)};
}

TokenBatch slice(const TokenBatch& batch, std::int64_t first, std::int64_t end) {
  const auto* offsets = batch.offsets.const_data_ptr<std::int64_t>();
  const std::int64_t token = offsets[first], tokens = offsets[end] - token;
  return {batch.ids.narrow(0, token, tokens), batch.type_ids.narrow(0, token, tokens),
          batch.position_ids.narrow(0, token, tokens),
          batch.offsets.narrow(0, first, end - first + 1) - token, batch.rows.narrow(0, first, end - first)};
}

TokenBatch TokenBatch::to(at::Device device) const {
  return {ids.to(device), type_ids.to(device), position_ids.to(device), offsets, rows};
}

}  // namespace ranktune::models
