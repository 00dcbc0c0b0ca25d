#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/dist/gradient_reducer.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/dist/tensor_visitor.h"

namespace torch::nn {
class Module;  // whoever has a module has included it; here it would cost each file half a minute
}

namespace ranktune::dist {

struct DistributedDataParallelOptions : ReducerOptions {
  /// At most one: where the module lies and where inputs are moved. Empty: inputs stay where they are.
  std::vector<at::Device> device_ids = {};
  std::optional<at::Device> output_device = {};  ///< where outputs are moved; absent: they stay
};

/// torch.nn.parallel.DistributedDataParallel for any module: the same forward, after whose backward pass the
/// gradients on all ranks are their mean. Build the optimizer from the module's own parameters, and save the
/// module itself: its names have no prefix here. Move the module to its device before it is wrapped.
///
///   auto net = std::make_shared<Net>();
///   dist::DistributedDataParallel ddp(*group, net);
///   torch::optim::SGD optimizer(net->parameters(), 0.1);
///   ddp.zero_grad();
///   ddp.backward(loss_of(ddp.forward(x), y));
///   optimizer.step();
///
/// `forward` may return a tensor or any nesting of vectors, arrays, optionals, maps, pairs, tuples and
/// structs that have for_each_tensor(visit). Everything is COLLECTIVE.
template <typename Module>
class DistributedDataParallel {
  static_assert(std::is_base_of_v<torch::nn::Module, Module>, "a module derives from torch::nn::Module");

 public:
  /// `group` and `module` must outlive this. THROWS: as GradientReducer; UsageError for devices that do not
  /// fit.
  DistributedDataParallel(ProcessGroup& group, std::shared_ptr<Module> module,
                          const DistributedDataParallelOptions& options = {})
      : module_(std::move(module)), options_(options), reducer_(group, shared_tensors(*module_), options) {
    require_devices();
  }

  template <typename... Inputs>
  auto forward(Inputs... inputs) {
    reducer_.before_forward();
    if (!options_.device_ids.empty()) (move_to(options_.device_ids.front(), inputs), ...);
    auto output = module_->forward(std::move(inputs)...);
    std::vector<at::Tensor> tensors;
    const auto collect = [&](at::Tensor& tensor) { tensors.push_back(tensor); };
    visit_tensors(output, collect);
    tensors = reducer_.prepare(std::move(tensors));
    auto next = tensors.begin();
    const auto replace = [&](at::Tensor& tensor) { tensor = *next++; };
    visit_tensors(output, replace);
    if (options_.output_device) move_to(*options_.output_device, output);
    return output;
  }

  template <typename... Inputs>
  auto operator()(Inputs&&... inputs) {
    return forward(std::forward<Inputs>(inputs)...);
  }

  /// loss.backward(), whose failures are a DistributedError; without it they are what c10d throws.
  void backward(const at::Tensor& loss) { reducer_.backward(loss); }

  /// While it lives, backward passes add up gradients without any exchange; the first pass after it sends the
  /// sum.
  class NoSync {
   public:
    explicit NoSync(GradientReducer& reducer) : reducer_(reducer), before_(reducer.synchronised()) {
      reducer_.set_synchronised(false);
    }
    ~NoSync() { reducer_.set_synchronised(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    GradientReducer& reducer_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(reducer_); }

  /// COLLECTIVE. Runs `train`, a loop that may have fewer steps on some ranks than on others; ranks that are
  /// through with it wait for the others, whose gradients then are means over fewer ranks' rows.
  template <typename Train>
  void join(Train&& train, const JoinOptions& options = {}) {
    reducer_.begin_join(options);
    std::forward<Train>(train)();
    reducer_.end_join();
  }

  /// Use it in place of the optimizer's: it is safe with gradient_as_bucket_view, too.
  void zero_grad() { reducer_.zero_grad(); }

  Module& module() { return *module_; }

 private:
  static SharedTensors shared_tensors(const Module& module) {
    SharedTensors shared;
    for (const auto& item : module.named_parameters())
      shared.parameters.emplace_back(item.key(), item.value());
    for (const auto& item : module.named_buffers()) shared.buffers.push_back(item.value());
    return shared;
  }

  template <typename Value>
  static void move_to(at::Device device, Value& value) {
    const auto move = [&](at::Tensor& tensor) {
      if (tensor.defined()) tensor = tensor.to(device);
    };
    visit_any_tensors(value, move);
  }

  void require_devices() const {
    if (options_.device_ids.size() > 1)
      throw UsageError("device_ids names " + std::to_string(options_.device_ids.size()) +
                       " devices: a rank has one; DataParallel is for several");
    for (const at::Tensor& parameter : module_->parameters())
      if (!options_.device_ids.empty() && parameter.device() != options_.device_ids.front())
        throw UsageError("a parameter is on " + parameter.device().str() + ", device_ids says " +
                         options_.device_ids.front().str() + ": move the module there before it is wrapped");
  }

  std::shared_ptr<Module> module_;
  DistributedDataParallelOptions options_;
  GradientReducer reducer_;
};

}  // namespace ranktune::dist
