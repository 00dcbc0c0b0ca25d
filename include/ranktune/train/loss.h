#pragma once

#include <ATen/core/Tensor.h>

namespace ranktune::train {

/// The loss, summed over the rows: cross-entropy for int64 `labels` [B], squared error for float32 ones.
/// Divided by the rows of an update it gives their exact mean, however they are split into micro-batches.
/// `logits`: [B, classes], of a regression [B, 1]. B = 0 gives 0.
at::Tensor summed_loss(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace ranktune::train
