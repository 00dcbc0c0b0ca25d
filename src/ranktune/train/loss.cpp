#include "ranktune/train/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>

namespace ranktune::train {

at::Tensor summed_loss(const at::Tensor& logits, const at::Tensor& labels, double label_smoothing) {
  if (labels.scalar_type() == at::kLong)
    return at::cross_entropy_loss(logits, labels, /*weight=*/{}, at::Reduction::Sum, /*ignore_index=*/-100,
                                  label_smoothing);
  return at::mse_loss(logits.squeeze(-1), labels, at::Reduction::Sum);
}

}  // namespace ranktune::train
