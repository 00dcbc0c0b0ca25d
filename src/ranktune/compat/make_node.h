#pragma once

#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>

namespace ranktune::compat {

/// A new node of the backward graph. LibTorch 2.6 holds nodes by std::shared_ptr, later releases by
/// intrusive_ptr.
template <typename Node>
auto make_node() {
  if constexpr (std::is_base_of_v<c10::intrusive_ptr_target, torch::autograd::Node>)
    return c10::make_intrusive<Node>();
  else
    return std::make_shared<Node>();
}

}  // namespace ranktune::compat
