#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

namespace ranktune::dist {

/// Sends gradients as bfloat16: each rank divides its own by their number, rounds, and the sums come back as
/// float32. LibTorch has such a hook for float16 only.
class Bf16Hook final : public c10d::CommHookInterface {
 public:
  explicit Bf16Hook(c10::intrusive_ptr<c10d::ProcessGroup> group) : group_(std::move(group)) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  at::Tensor parseHookResult(const c10::IValue& result) override;

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

}  // namespace ranktune::dist
