#include "ranktune/dist/data_parallel.h"

#include <ATen/TensorOperators.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "ranktune/compat/make_node.h"
#include "ranktune/core/threads.h"

namespace ranktune::dist {
namespace {

using torch::autograd::variable_list;

/// From the parameters of a copy to those of the original.
struct ToOriginals : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override {
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) gradients[i] = gradients[i].to(devices[i]);
    return std::move(gradients);
  }
  std::vector<at::Device> devices;
};

}  // namespace

std::vector<at::Tensor> scatter(const at::Tensor& tensor, const std::vector<at::Device>& devices) {
  if (tensor.dim() == 0)
    throw UsageError("an input of DataParallel has no rows to deal: it is a single number");
  std::vector<at::Tensor> parts = tensor.chunk(static_cast<std::int64_t>(devices.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

at::Tensor gather(const std::vector<at::Tensor>& parts, at::Device device) {
  std::vector<at::Tensor> here;
  for (const at::Tensor& part : parts) {
    if (!part.defined()) return {};
    here.push_back((part.dim() == 0 ? part.unsqueeze(0) : part).to(device));
  }
  return parts.size() == 1 && parts.front().dim() == 0 ? here.front().squeeze(0) : at::cat(here);
}

void link_parameters(const std::vector<at::Tensor>& originals, std::vector<at::Tensor> copies) {
  if (!at::GradMode::is_enabled()) return;
  auto node = compat::make_node<ToOriginals>();
  variable_list linked;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    if (!originals[i].requires_grad()) continue;
    node->devices.push_back(originals[i].device());
    linked.push_back(originals[i]);
  }
  node->set_next_edges(torch::autograd::collect_next_edges(linked));
  for (std::size_t i = 0; i < originals.size(); ++i) {
    if (originals[i].requires_grad())
      torch::autograd::create_gradient_edge(copies[i], node);
    else
      copies[i].requires_grad_(false);  // clone() forgets it
  }
}

void run_replicas(std::size_t count, const std::function<void(std::size_t)>& work) {
  const at::ThreadLocalState state;
  core::run_in_threads(count, [&](std::size_t i) {
    const at::ThreadLocalStateGuard as_caller(state);
    work(i);
  });
}

}  // namespace ranktune::dist
