#pragma once

#include <ATen/core/Tensor.h>

namespace ranktune::train {

/// The loss, summed over the rows: cross-entropy for int64 `labels` [B], squared error for float32 ones.
/// Divided by the rows of an update it gives their exact mean, however they are split into micro-batches.
/// `logits`: [B, classes], of a regression [B, 1]. B = 0 gives 0. With label smoothing e the cross-entropy is
/// (1 - e) * -log p(label) + e * the mean of -log p over the classes.
at::Tensor summed_loss(const at::Tensor& logits, const at::Tensor& labels, double label_smoothing = 0);

}  // namespace ranktune::train
