#include "ranktune/dist/bf16_hook.h"

#include <vector>

namespace ranktune::dist {

c10::intrusive_ptr<c10::ivalue::Future> Bf16Hook::runHook(c10d::GradBucket& bucket) {
  at::Tensor& gradients = bucket.getBufferRef();
  std::vector<at::Tensor> sent{gradients.div(group_->getSize()).to(at::kBFloat16)};
  return group_->allreduce(sent)->getFuture()->then(
      [gradients](c10::ivalue::Future& done) {
        const at::Tensor sum = done.value().toTensorVector().front();
        return c10::IValue(gradients.copy_(sum));
      },
      c10::TensorType::get());
}

at::Tensor Bf16Hook::parseHookResult(const c10::IValue& result) {
  return result.toTensor();
}

}  // namespace ranktune::dist
