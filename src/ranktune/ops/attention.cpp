#include "ranktune/ops/attention.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <vector>

#include "ranktune/ops/backward_node.h"
#include "ranktune/ops/kernel_arguments.h"
#include "ranktune/ops/reference.h"

namespace ranktune::ops {
namespace {

using torch::autograd::variable_list;

std::int64_t longest_sequence(const SequenceLayout& layout) {
  const auto* offsets = layout.offsets.const_data_ptr<std::int64_t>();
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < layout.rows.size(0); ++i)
    longest = std::max(longest, offsets[i + 1] - offsets[i]);
  return longest;
}

/// Calls work(scratch, begin, end) over all (head, sequence) pairs, several threads at once.
template <typename Work>
void for_each_head(const cpu::AttentionArgs& args, const SequenceLayout& layout, Work work) {
  const std::int64_t scratch = cpu::attention_scratch(longest_sequence(layout), args.head_dim);
  at::parallel_for(0, args.heads * args.sequences.count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> memory(static_cast<std::size_t>(scratch));
    work(memory.data(), begin, end);
  });
}

/// Inputs, result and softmax denominators of a forward pass; what the backward pass keeps.
struct Saved {
  at::Tensor q, k, v, out, log_sum;
  std::int64_t heads = 0;
  Queries queries = Queries::all_tokens;
  SequenceLayout layout;
  DropoutMask mask;

  cpu::AttentionArgs arguments() const {
    return {q.const_data_ptr<float>(),
            k.const_data_ptr<float>(),
            v.const_data_ptr<float>(),
            out.mutable_data_ptr<float>(),
            log_sum.mutable_data_ptr<float>(),
            heads,
            q.size(1) / heads,
            queries == Queries::first_tokens,
            kernel_sequences(layout),
            kernel_mask(mask)};
  }
};

struct AttentionBackward : public torch::autograd::Node {
  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return variable_list(3);
    const at::Tensor grad_out = gradients[0].contiguous();
    at::Tensor grad_q = at::empty_like(saved.q), grad_k = at::empty_like(saved.k),
               grad_v = at::empty_like(saved.v);
    const cpu::AttentionBackwardArgs args{saved.arguments(), grad_out.const_data_ptr<float>(),
                                          grad_q.mutable_data_ptr<float>(), grad_k.mutable_data_ptr<float>(),
                                          grad_v.mutable_data_ptr<float>()};
    const cpu::Kernels& kernels = cpu::select_kernels();
    for_each_head(args.forward, saved.layout, [&](float* scratch, std::int64_t begin, std::int64_t end) {
      kernels.attention_backward(args, scratch, begin, end);
    });
    return {grad_q, grad_k, grad_v};
  }
  void release_variables() override { saved = Saved(); }

  Saved saved;
};

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     Queries queries, const SequenceLayout& layout, const DropoutMask& mask) {
  if (!kernels_apply(q)) return reference::attention(q, k, v, heads, queries, layout, mask);
  Saved saved{q.detach().contiguous(),
              k.detach().contiguous(),
              v.detach().contiguous(),
              {},
              {},
              heads,
              queries,
              layout,
              mask};
  saved.out = at::empty_like(saved.q);
  saved.log_sum = at::empty({q.size(0), heads}, saved.q.options());
  const cpu::AttentionArgs args = saved.arguments();
  const cpu::Kernels& kernels = cpu::select_kernels();
  for_each_head(args, layout, [&](float* scratch, std::int64_t begin, std::int64_t end) {
    kernels.attention(args, scratch, begin, end);
  });
  at::Tensor out = saved.out;
  if (!needs_backward({q, k, v})) return out;
  auto node = make_node<AttentionBackward>();
  saved.out = out.detach();
  node->saved = std::move(saved);
  return with_history(std::move(out), std::move(node), {q, k, v});
}

}  // namespace ranktune::ops
