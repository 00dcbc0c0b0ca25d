#include "ranktune/dist/gradient_reducer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "ranktune/compat/make_node.h"
#include "ranktune/core/error.h"
#include "ranktune/dist/bf16_hook.h"
#include "ranktune/dist/collectives.h"
#include "ranktune/dist/gradient_reducer_state.h"

namespace ranktune::dist {
namespace {

using torch::autograd::variable_list;

constexpr std::int64_t kBroadcastBytes = 250 * 1024 * 1024;

/// Parameters that take part, in the order of the model.
SharedTensors trainable(SharedTensors tensors) {
  std::erase_if(tensors.parameters, [](const auto& named) { return !named.second.requires_grad(); });
  if (tensors.parameters.empty())
    throw UsageError("no parameter needs a gradient: there is nothing to train");
  return tensors;
}

/// Names, shapes and types as text: what has to be equal on all ranks.
std::string describe(const SharedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors.parameters) {
    text += name + " [";
    for (const std::int64_t size : tensor.sizes()) text += std::to_string(size) + ",";
    text += "] " + std::string(tensor.dtype().name()) + "\n";
  }
  return text;
}

/// The first line in which two descriptions differ.
std::string first_difference(const std::string& ours, const std::string& theirs) {
  std::size_t begin = 0;
  while (begin < ours.size() && begin < theirs.size()) {
    const std::size_t end = ours.find('\n', begin), other = theirs.find('\n', begin);
    const std::string line = ours.substr(begin, end - begin),
                      their_line = theirs.substr(begin, other - begin);
    if (line != their_line) return their_line + " there, " + line + " here";
    begin = end + 1;
  }
  return ours.size() < theirs.size() ? "more parameters there" : "fewer parameters there";
}

void require_same_model(ProcessGroup& group, const SharedTensors& tensors) {
  const std::string own = describe(tensors);
  const std::string first = broadcast_object(group, own);
  const std::string complaint = own == first ? "" : first_difference(own, first);
  const std::vector<std::string> complaints = all_gather(group, complaint);
  for (std::size_t rank = 0; rank < complaints.size(); ++rank)
    if (!complaints[rank].empty())
      throw DistributedError(group.rank(), "comparing the models", 0,
                             "rank " + std::to_string(rank) + " has another model than rank 0: " +
                                 complaints[rank] + "; start all ranks with the same model and settings");
}

std::vector<at::Tensor> tensors_of(const SharedTensors& tensors) {
  std::vector<at::Tensor> list;
  for (const auto& [name, tensor] : tensors.parameters) list.push_back(tensor);
  return list;
}

/// Reducer's constructor has grown: the arguments after the common ones are those of the LibTorch at hand.
template <typename Reducer, typename... Common>
std::shared_ptr<Reducer> make_reducer(const std::vector<std::int64_t>& caps, Common&&... common) {
  if constexpr (std::is_constructible_v<Reducer, Common..., bool, bool, std::vector<std::int64_t>>)
    return std::make_shared<Reducer>(std::forward<Common>(common)..., false, false, caps);
  else if constexpr (std::is_constructible_v<Reducer, Common..., bool, bool>)
    return std::make_shared<Reducer>(std::forward<Common>(common)..., false, false);
  else
    return std::make_shared<Reducer>(std::forward<Common>(common)...);
}

}  // namespace

GradientReducer::State::State(ProcessGroup& process_group, SharedTensors shared,
                              const ReducerOptions& reducer_options)
    : group(process_group), tensors(trainable(std::move(shared))), options(reducer_options) {}

void GradientReducer::State::broadcast(std::vector<at::Tensor> list, std::int64_t source) {
  if (list.empty()) return;
  const at::NoGradGuard no_grad;
  for (at::Tensor& tensor : list) tensor = tensor.detach();
  group.run("broadcast of the model", [&] {
    c10d::broadcast_coalesced(group.c10d_group(), list, kBroadcastBytes, static_cast<int>(source));
  });
}

void GradientReducer::State::share_values(std::int64_t source) {
  std::vector<at::Tensor> all = tensors_of(tensors);
  all.insert(all.end(), tensors.buffers.begin(), tensors.buffers.end());
  broadcast(std::move(all), source);
}

void GradientReducer::State::make() {
  const std::vector<at::Tensor> parameters = tensors_of(tensors);
  std::vector<bool> sparse;
  std::unordered_map<std::size_t, std::string> names;
  for (const auto& [name, tensor] : tensors.parameters) {
    names.emplace(sparse.size(), name);
    const auto& list = tensors.sparse_gradients;
    sparse.push_back(std::find(list.begin(), list.end(), name) != list.end());
  }
  const auto cap = static_cast<std::int64_t>(options.bucket_cap_mb * 1024 * 1024);
  const std::int64_t first_cap = std::min<std::int64_t>(cap, c10d::kDefaultFirstBucketBytes);
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters, {static_cast<std::size_t>(first_cap), static_cast<std::size_t>(cap)}, sparse));
  std::reverse(buckets.begin(), buckets.end());  // gradients are ready from the last layer to the first
  reducer = make_reducer<c10d::Reducer>({}, parameters, buckets, group.c10d_group(), sparse, cap,
                                        options.find_unused_parameters, options.gradient_as_bucket_view,
                                        names, first_cap);
  if (options.static_graph) reducer->set_static_graph();
  if (options.hook == CommHook::fp16)
    reducer->register_builtin_comm_hook(c10d::BuiltinCommHookType::FP16_COMPRESS);
  if (options.hook == CommHook::bf16)
    reducer->register_comm_hook(std::make_unique<Bf16Hook>(group.c10d_group()));
}

/// All gradients of this pass have been computed by now, and c10d has not yet been waited for.
void GradientReducer::State::at_end_of_backward() {
  if (options.find_unused_parameters || options.static_graph) return;
  std::string missing;
  std::int64_t count = 0;
  for (const auto& [name, tensor] : tensors.parameters)
    if (!tensor.grad().defined() && count++ < 3) missing += (missing.empty() ? "" : ", ") + name;
  if (count == 0) return;
  throw DistributedError(
      group.rank(), "averaging gradients", 0,
      std::to_string(count) + " parameters got no gradient: " + missing + (count > 3 ? ", ..." : "") +
          "; leave them out of the model, use them in the loss, or set find_unused_parameters");
}

namespace {

/// Passes gradients on unchanged. It is the first node that a backward pass meets, so it can say what is to
/// be done at its end; and since all outputs come from it, those outside the loss are visited as well.
struct Sink : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override {
    if (at_start) at_start();
    return std::move(gradients);
  }
  std::function<void()> at_start;
};

}  // namespace

GradientReducer::GradientReducer(ProcessGroup& group, SharedTensors tensors, const ReducerOptions& options)
    : state_(std::make_shared<State>(group, std::move(tensors), options)) {
  require_same_model(group, state_->tensors);
  state_->share_values(0);
  state_->make();
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::before_forward() {
  State& state = *state_;
  if (!at::GradMode::is_enabled()) return;
  if (state.synchronised) state.reducer->prepare_for_forward();
  if (state.join) {
    if (state.synchronised) state.begin_pass_among_joined();
    return;
  }
  if (state.synchronised)
    state.group.run("exchange of the bucket order", [&] { state.reducer->rebuild_buckets(); });
  if (state.buffers_are_stale && state.options.broadcast_buffers) state.broadcast(state.tensors.buffers, 0);
  state.buffers_are_stale = false;
}

std::vector<at::Tensor> GradientReducer::prepare(std::vector<at::Tensor> outputs) {
  State& state = *state_;
  state.buffers_are_stale = state.synchronised;
  if (!at::GradMode::is_enabled() || !state.synchronised) return outputs;
  const bool search = state.options.find_unused_parameters && !state.options.static_graph;
  state.reducer->prepare_for_backward(search ? outputs : std::vector<at::Tensor>{});
  const bool delayed = state.options.static_graph && std::exchange(state.first_pass, false);
  auto sink = compat::make_node<Sink>();
  sink->at_start = [keep = state_, delayed] {
    torch::autograd::Engine::get_default_engine().queue_callback([keep, delayed] {
      if (delayed) keep->reducer->delay_all_reduce();
      keep->at_end_of_backward();
    });
  };
  variable_list differentiable;
  for (const at::Tensor& output : outputs)
    if (output.defined() && output.requires_grad()) differentiable.push_back(output);
  sink->set_next_edges(torch::autograd::collect_next_edges(differentiable));
  for (at::Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    at::Tensor alias = output.detach();
    torch::autograd::create_gradient_edge(alias, sink);
    output = alias;
  }
  return outputs;
}

void GradientReducer::backward(const at::Tensor& loss) {
  if (!state_->synchronised) return loss.backward();
  state_->group.run("averaging gradients", [&] { loss.backward(); });
}

void GradientReducer::set_synchronised(bool on) {
  state_->synchronised = on;
}

bool GradientReducer::synchronised() const noexcept {
  return state_->synchronised;
}

void GradientReducer::zero_grad() {
  for (auto& [name, tensor] : state_->tensors.parameters) {
    at::Tensor& gradient = tensor.mutable_grad();
    if (!gradient.defined()) continue;
    if (state_->options.gradient_as_bucket_view)
      gradient = gradient.detach().zero_();
    else
      gradient.reset();
  }
}

const ProcessGroup& GradientReducer::group() const noexcept {
  return state_->group;
}

double loss_scale(ProcessGroup& group, std::int64_t local_rows) {
  at::Tensor rows = at::empty({1}, at::kLong).fill_(local_rows);
  all_reduce_sum(group, rows);
  const auto all = static_cast<double>(rows.item<std::int64_t>());
  return all == 0 ? 0 : static_cast<double>(local_rows * group.world_size()) / all;
}

}  // namespace ranktune::dist
