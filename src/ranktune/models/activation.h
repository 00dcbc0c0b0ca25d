#pragma once

#include <ATen/core/Tensor.h>

#include "ranktune/models/config.h"

namespace ranktune::models {

/// Element by element, any shape.
at::Tensor activate(Activation kind, const at::Tensor& x);

}  // namespace ranktune::models
