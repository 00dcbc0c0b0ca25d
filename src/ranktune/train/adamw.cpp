#include "ranktune/train/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
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

/// A sparse gradient of whole rows; of a dense one, all rows.
at::Tensor as_sparse(const at::Tensor& gradient) {
  return gradient.is_sparse() ? gradient : gradient.to_sparse(/*sparse_dim=*/1);
}

/// The slots of `rows`, all int64 on the CPU; rows that have none yet get the next ones.
at::Tensor take_slots(const at::Tensor& rows, at::Tensor& row_slots, std::vector<std::int64_t>& slot_rows) {
  at::Tensor slots = at::empty_like(rows);
  auto* slot_of = row_slots.mutable_data_ptr<std::int64_t>();
  auto* slot = slots.mutable_data_ptr<std::int64_t>();
  for (const auto *row = rows.const_data_ptr<std::int64_t>(), *end = row + rows.numel(); row < end; ++row) {
    if (slot_of[*row] < 0) {
      slot_of[*row] = static_cast<std::int64_t>(slot_rows.size());
      slot_rows.push_back(*row);
    }
    *slot++ = slot_of[*row];
  }
  return slots;
}

/// `moments` with room for `count` slots at least, the new ones zero.
at::Tensor with_capacity(const at::Tensor& moments, std::int64_t count) {
  if (moments.size(0) >= count) return moments;
  std::vector<std::int64_t> shape = moments.sizes().vec();
  shape[0] = std::max(count, 2 * shape[0]);
  at::Tensor larger = at::zeros(shape, moments.options());
  larger.narrow(0, 0, moments.size(0)).copy_(moments);
  return larger;
}

}  // namespace

bool is_decayed(const std::string& parameter_name) {
  std::string name = parameter_name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return !contains(name, "bias") && !contains(name, "layernorm") && !contains(name, "rmsnorm") &&
         !has_norm_component(name);
}

struct AdamW::Batch {
  std::vector<at::Tensor> values, gradients, means, squares;
};

AdamW::AdamW(const models::NamedTensors& parameters, const AdamWOptions& options) : options_(options) {
  for (const auto& [name, value] : parameters)
    parameters_.push_back({.value = value, .weight_decay = is_decayed(name) ? options.weight_decay : 0.0});
  const at::Device device = parameters.empty() ? at::Device(at::kCPU) : parameters.front().second.device();
  steps_ = at::zeros({}, at::TensorOptions(at::kFloat).device(device));
}

void AdamW::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  steps_.add_(1);
  Batch decayed, others;
  for (Parameter& parameter : parameters_) {
    const at::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    if (!parameter.mean.defined()) start(parameter);
    if (parameter.by_rows) {
      update_rows(parameter, learning_rate);
      continue;
    }
    Batch& batch = parameter.weight_decay > 0 ? decayed : others;
    batch.values.push_back(parameter.value);
    batch.gradients.push_back(gradient.is_sparse() ? gradient.to_dense() : gradient);
    batch.means.push_back(parameter.mean);
    batch.squares.push_back(parameter.square);
  }
  update(decayed, learning_rate, options_.weight_decay);
  update(others, learning_rate, 0.0);
}

void AdamW::start(Parameter& parameter) const {
  const at::Tensor& value = parameter.value;
  parameter.by_rows = value.grad().is_sparse();
  std::vector<std::int64_t> shape = value.sizes().vec();
  if (parameter.by_rows) {
    parameter.row_slots = at::full({shape[0]}, -1, at::kLong);
    shape[0] = 0;
  }
  parameter.mean = at::zeros(shape, value.options().requires_grad(false));
  parameter.square = at::zeros_like(parameter.mean);
}

void AdamW::update(const Batch& batch, double learning_rate, double weight_decay) const {
  if (batch.values.empty()) return;
  const std::vector<at::Tensor> steps(batch.values.size(), steps_);
  at::_fused_adamw_(batch.values, batch.gradients, batch.means, batch.squares, /*max_exp_avg_sqs=*/{}, steps,
                    learning_rate, options_.beta1, options_.beta2, weight_decay, options_.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

void AdamW::update_rows(Parameter& parameter, double learning_rate) const {
  const at::Tensor gradient = as_sparse(parameter.value.grad()).coalesce();
  const at::Device device = parameter.value.device();
  const at::Tensor slots =
      take_slots(gradient._indices()[0].to(at::kCPU), parameter.row_slots, parameter.slot_rows);
  const auto count = static_cast<std::int64_t>(parameter.slot_rows.size());
  parameter.mean = with_capacity(parameter.mean, count);
  parameter.square = with_capacity(parameter.square, count);
  const at::Tensor rows = at::from_blob(parameter.slot_rows.data(), {count}, at::kLong).to(device);
  const at::Tensor values = parameter.value.index_select(0, rows);
  const at::Tensor gradients = at::zeros_like(values).index_copy_(0, slots.to(device), gradient._values());
  if (parameter.weight_decay > 0) parameter.value.mul_(1 - learning_rate * parameter.weight_decay);
  update(
      {{values}, {gradients}, {parameter.mean.narrow(0, 0, count)}, {parameter.square.narrow(0, 0, count)}},
      learning_rate, parameter.weight_decay);
  parameter.value.index_copy_(0, rows, values);
}

void AdamW::zero_grad() {
  for (Parameter& parameter : parameters_) parameter.value.mutable_grad().reset();
}

double clip_gradients(const models::NamedTensors& parameters, double max_norm) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) {
    at::Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) continue;
    if (gradient.is_sparse())
      gradient = gradient.coalesce();  // each row once, or its parts' norms would add up
    gradients.push_back(gradient.is_sparse() ? gradient._values() : gradient);
  }
  if (gradients.empty()) return 0;
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2).item<float>();
  // The arithmetic of torch.nn.utils.clip_grad_norm_, in float32. A factor of 1 changes no bit: it is
  // skipped.
  const float factor = 1.0F / (norm + 1e-6F) * static_cast<float>(max_norm);
  if (max_norm > 0 && factor < 1) at::_foreach_mul_(gradients, factor);
  return norm;
}

}  // namespace ranktune::train
