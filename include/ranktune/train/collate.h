#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "ranktune/models/token_batch.h"
#include "ranktune/train/dataset.h"

/// From rows to tensors.
namespace ranktune::train {

/// The rows of a split, end to end, in the order given. `first_place` is the place of the first one among all
/// rows of its update: dropout masks depend on it. REQUIRES: every row has at least one token.
models::TokenBatch collate(const data::TokenizedSplit& tokens, std::span<const std::int64_t> rows,
                           std::int64_t first_place, at::Device device);

/// Labels of the rows: [B] int64 classes, or [B] float32 targets. REQUIRES: the dataset has labels.
at::Tensor collate_labels(const Dataset& dataset, std::span<const std::int64_t> rows, at::Device device);

}  // namespace ranktune::train
