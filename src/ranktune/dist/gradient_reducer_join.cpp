// Ranks that have run out of data take part in the others' exchanges, with zeros, until nobody has any left.
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "ranktune/core/error.h"
#include "ranktune/dist/collectives.h"
#include "ranktune/dist/gradient_reducer_state.h"

namespace ranktune::dist {
namespace {

std::int64_t largest(ProcessGroup& group, std::int64_t value) {
  std::int64_t found = value;
  for (const at::Tensor& one : all_gather(group, at::tensor({value}, at::kLong)))
    found = std::max(found, one.item<std::int64_t>());
  return found;
}

}  // namespace

/// COLLECTIVE. How many ranks are in a pass of their own. Its result decides the divisor of this pass's mean.
std::int64_t GradientReducer::State::count_active(bool active) {
  std::vector<at::Tensor> count = {
      at::tensor({active ? 1.0F : 0.0F}, tensors.parameters.front().second.options().dtype(at::kFloat))};
  group.run("count of the ranks that go on", [&] {
    auto work = group.c10d_group()->allreduce(count);
    work->wait();
    if (active) reducer->set_forward_pass_work_handle(std::move(work), join->divide_by_initial_world_size);
  });
  return static_cast<std::int64_t>(count.front().item<float>());
}

void GradientReducer::State::begin_pass_among_joined() {
  count_active(true);
  exchange_before_pass(true);
}

void GradientReducer::State::exchange_before_pass(bool active) {
  group.run("exchange of the bucket order", [&] { reducer->rebuild_buckets(); });
  if (!options.broadcast_buffers || tensors.buffers.empty()) return;
  broadcast(tensors.buffers, largest(group, active ? group.rank() : -1));  // rank 0 may have finished
}

void GradientReducer::State::shadow_pass() {
  exchange_before_pass(false);
  group.run("averaging gradients of the ranks that go on", [&] {
    std::vector<c10::intrusive_ptr<c10::ivalue::Future>> sent;
    for (c10d::GradBucket& bucket : reducer->get_grad_buckets(/*return_zero_tensors=*/true))
      sent.push_back(reducer->run_comm_hook(bucket));
    for (const auto& future : sent) future->waitAndThrow();
    if (!options.find_unused_parameters) return;
    std::vector<at::Tensor> used = {reducer->get_local_used_map_on_device()};
    group.c10d_group()->allreduce(used)->wait();
  });
  reducer->push_rebuilt_params_for_all_indices();
}

void GradientReducer::begin_join(const JoinOptions& options) {
  if (state_->options.static_graph)
    throw UsageError(
        "join does not work with static_graph: a rank without data has no graph; leave one of them out");
  state_->join = options;
}

void GradientReducer::end_join() {
  State& state = *state_;
  bool last = true;
  while (state.count_active(false) > 0) {
    last = false;
    state.shadow_pass();
  }
  state.join.reset();
  state.share_values(largest(state.group, last ? state.group.rank() : -1));
  state.buffers_are_stale = false;
}

}  // namespace ranktune::dist
