#include "ranktune/train/collate.h"

#include <ATen/ops/empty.h>

#include <vector>

namespace ranktune::train {
namespace {

template <typename Value>
at::Tensor gather(const std::vector<Value>& values, std::span<const std::int64_t> rows, at::ScalarType type) {
  at::Tensor gathered = at::empty({static_cast<std::int64_t>(rows.size())}, type);
  Value* next = gathered.mutable_data_ptr<Value>();
  for (const std::int64_t row : rows) *next++ = values[static_cast<std::size_t>(row)];
  return gathered;
}

}  // namespace

models::TokenBatch collate(const data::TokenizedSplit& tokens, std::span<const std::int64_t> rows,
                           std::int64_t first_place, at::Device device) {
  std::vector<std::int64_t> ids, type_ids, offsets{0}, places;
  for (const std::int64_t row : rows) {
    const auto row_ids = tokens.row_ids(row);
    const auto row_type_ids = tokens.row_type_ids(row);
    ids.insert(ids.end(), row_ids.begin(), row_ids.end());
    type_ids.insert(type_ids.end(), row_type_ids.begin(), row_type_ids.end());
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
    places.push_back(first_place + static_cast<std::int64_t>(places.size()));
  }
  return models::make_token_batch(ids, type_ids, offsets, places, device);
}

at::Tensor collate_labels(const Dataset& dataset, std::span<const std::int64_t> rows, at::Device device) {
  const at::Tensor labels = dataset.targets.empty() ? gather(dataset.classes, rows, at::kLong)
                                                    : gather(dataset.targets, rows, at::kFloat);
  return labels.to(device);
}

}  // namespace ranktune::train
