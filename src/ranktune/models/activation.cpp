#include "ranktune/models/activation.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

namespace ranktune::models {

at::Tensor activate(Activation kind, const at::Tensor& x) {
  switch (kind) {
    case Activation::gelu:
      return at::gelu(x);
    case Activation::gelu_tanh:
      return at::gelu(x, "tanh");
    case Activation::relu:
      return at::relu(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::tanh:
      return at::tanh(x);
  }
  TORCH_INTERNAL_ASSERT(false, "every activation has its case above");
}

}  // namespace ranktune::models
