#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/dist/tensor_visitor.h"

namespace ranktune::dist {

/// Parts of `tensor` along its first dimension, one for each device at most, each on its device: torch's
/// chunk. REQUIRES: at least one dimension.
std::vector<at::Tensor> scatter(const at::Tensor& tensor, const std::vector<at::Device>& devices);

/// The parts one after the other along the first dimension, on `device`; numbers without a dimension become a
/// vector.
at::Tensor gather(const std::vector<at::Tensor>& parts, at::Device device);

/// Lets gradients of a copy's parameters flow back into the original's. REQUIRES: as many copies as
/// originals.
void link_parameters(const std::vector<at::Tensor>& originals, std::vector<at::Tensor> copies);

/// Calls work(0) .. work(count - 1) in threads of their own, in the caller's gradient mode. THROWS: what the
/// first of them threw.
void run_replicas(std::size_t count, const std::function<void(std::size_t)>& work);

/// torch.nn.DataParallel for any module that can be cloned: one process, several devices. A forward pass
/// deals the rows of its inputs among copies of the module, one thread for each, and puts their outputs
/// together; a backward pass adds the copies' gradients up in the module's own parameters. A loss over the
/// output is thus the loss over all rows, however many each device got. The module's own buffers change with
/// the first device's rows alone. Ranks are faster: there, nothing is copied but gradients.
template <typename Module>
class DataParallel {
 public:
  /// `module` lies on devices.front(). `output_device`: where outputs are put together; absent: there.
  /// THROWS: UsageError without devices, or where the module lies elsewhere.
  DataParallel(std::shared_ptr<Module> module, std::vector<at::Device> devices,
               std::optional<at::Device> output_device = {})
      : module_(std::move(module)), devices_(std::move(devices)) {
    if (devices_.empty()) throw UsageError("DataParallel needs at least one device");
    for (const at::Tensor& parameter : module_->parameters())
      if (parameter.device() != devices_.front())
        throw UsageError("a parameter is on " + parameter.device().str() + ", the first device is " +
                         devices_.front().str() + ": move the module there first");
    output_device_ = output_device.value_or(devices_.front());
  }

  /// Tensors among the inputs, in any nesting as of DistributedDataParallel, are dealt by rows; other inputs
  /// go to all. The output may be any nesting, too. THROWS: UsageError where inputs have unequal numbers of
  /// rows; what a replica's forward pass throws.
  template <typename... Inputs>
  auto forward(Inputs... inputs) {
    using Output = std::decay_t<decltype(module_->forward(std::move(inputs)...))>;
    std::vector<std::tuple<Inputs...>> parts = deal(std::tuple<Inputs...>(std::move(inputs)...));
    const std::vector<std::shared_ptr<Module>> replicas = replicate(parts.size());
    std::vector<std::optional<Output>> outputs(parts.size());
    run_replicas(parts.size(), [&](std::size_t i) {
      outputs[i] =
          std::apply([&](Inputs&... own) { return replicas[i]->forward(std::move(own)...); }, parts[i]);
    });
    return collect(outputs);
  }

  template <typename... Inputs>
  auto operator()(Inputs&&... inputs) {
    return forward(std::forward<Inputs>(inputs)...);
  }

  Module& module() { return *module_; }

 private:
  template <typename Value>
  static std::vector<at::Tensor*> tensors_in(Value& value) {
    std::vector<at::Tensor*> found;
    const auto note = [&](at::Tensor& tensor) { found.push_back(&tensor); };
    visit_any_tensors(value, note);
    return found;
  }

  template <typename... Inputs>
  static std::vector<at::Tensor*> tensors_of(std::tuple<Inputs...>& inputs) {
    std::vector<at::Tensor*> found;
    std::apply(
        [&](Inputs&... each) {
          (..., [&] {
            for (at::Tensor* tensor : tensors_in(each)) found.push_back(tensor);
          }());
        },
        inputs);
    return found;
  }

  template <typename... Inputs>
  std::vector<std::tuple<Inputs...>> deal(std::tuple<Inputs...> inputs) const {
    std::vector<std::vector<at::Tensor>> scattered;
    for (const at::Tensor* tensor : tensors_of(inputs)) {
      scattered.push_back(scatter(*tensor, devices_));
      if (scattered.back().size() != scattered.front().size())
        throw UsageError("inputs of DataParallel have unequal numbers of rows");
    }
    std::vector<std::tuple<Inputs...>> parts(scattered.empty() ? 1 : scattered.front().size(), inputs);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto chunk = scattered.begin();
      for (at::Tensor* tensor : tensors_of(parts[i])) *tensor = (*chunk++)[i];
    }
    return parts;
  }

  std::vector<std::shared_ptr<Module>> replicate(std::size_t count) const {
    std::vector<std::shared_ptr<Module>> replicas{module_};
    for (std::size_t i = 1; i < count; ++i) {
      replicas.push_back(std::dynamic_pointer_cast<Module>(module_->clone(devices_[i])));
      if (!replicas.back()) throw UsageError("clone() of this module gives a module of another type");
      link_parameters(module_->parameters(), replicas.back()->parameters());
      replicas.back()->train(module_->is_training());
    }
    return replicas;
  }

  template <typename Output>
  Output collect(std::vector<std::optional<Output>>& outputs) const {
    const std::vector<at::Tensor*> whole = tensors_in(*outputs.front());
    std::vector<std::vector<at::Tensor>> parts(whole.size());
    for (std::optional<Output>& output : outputs) {
      const std::vector<at::Tensor*> found = tensors_in(*output);
      if (found.size() != whole.size())
        throw UsageError("outputs of DataParallel differ in their numbers of tensors");
      for (std::size_t t = 0; t < found.size(); ++t) parts[t].push_back(*found[t]);
    }
    for (std::size_t t = 0; t < whole.size(); ++t) *whole[t] = gather(parts[t], output_device_);
    return std::move(*outputs.front());
  }

  std::shared_ptr<Module> module_;
  std::vector<at::Device> devices_;
  at::Device output_device_ = at::kCPU;
};

}  // namespace ranktune::dist
