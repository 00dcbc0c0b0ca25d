#include "ranktune/train/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cctype>

namespace ranktune::train {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// A component of a dotted name that says "norm", alone or as its last word.
bool has_norm_component(const std::string& name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string component = name.substr(begin, end - begin);
    if (component == "norm" || component.ends_with("_norm")) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool is_decayed(const std::string& parameter_name) {
  std::string name = parameter_name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return !contains(name, "bias") && !contains(name, "layernorm") && !contains(name, "rmsnorm") &&
         !has_norm_component(name);
}

AdamW::AdamW(const models::NamedTensors& parameters, const AdamWOptions& options)
    : options_(options), groups_{{options.weight_decay, {}, {}, {}}, {0.0, {}, {}, {}}} {
  for (const auto& [name, parameter] : parameters) {
    Group& group = groups_[is_decayed(name) ? 0 : 1];
    group.parameters.push_back(parameter);
    group.means.push_back(at::zeros_like(parameter.detach()));
    group.squares.push_back(at::zeros_like(parameter.detach()));
  }
  const at::Device device = parameters.empty() ? at::Device(at::kCPU) : parameters.front().second.device();
  steps_ = at::zeros({}, at::TensorOptions(at::kFloat).device(device));
}

void AdamW::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  steps_.add_(1);
  for (const Group& group : groups_) update(group, learning_rate);
}

void AdamW::update(const Group& group, double learning_rate) const {
  std::vector<at::Tensor> parameters, gradients, means, squares;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const at::Tensor& gradient = group.parameters[i].grad();
    if (!gradient.defined()) continue;
    parameters.push_back(group.parameters[i]);
    gradients.push_back(gradient);
    means.push_back(group.means[i]);
    squares.push_back(group.squares[i]);
  }
  if (parameters.empty()) return;
  const std::vector<at::Tensor> steps(parameters.size(), steps_);
  at::_fused_adamw_(parameters, gradients, means, squares, /*max_exp_avg_sqs=*/{}, steps, learning_rate,
                    options_.beta1, options_.beta2, group.weight_decay, options_.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
}

void AdamW::zero_grad() {
  for (Group& group : groups_)
    for (at::Tensor& parameter : group.parameters) parameter.mutable_grad().reset();
}

double clip_gradients(const models::NamedTensors& parameters, double max_norm) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  if (gradients.empty()) return 0;
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2).item<float>();
  // The arithmetic of torch.nn.utils.clip_grad_norm_, in float32. A factor of 1 changes no bit: it is
  // skipped.
  const float factor = 1.0F / (norm + 1e-6F) * static_cast<float>(max_norm);
  if (max_norm > 0 && factor < 1) at::_foreach_mul_(gradients, factor);
  return norm;
}

}  // namespace ranktune::train
