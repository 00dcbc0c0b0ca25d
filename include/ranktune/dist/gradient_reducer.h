#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranktune/dist/process_group.h"

namespace ranktune::dist {

/// What travels between ranks in place of float32 gradients.
enum class CommHook { none, fp16, bf16 };

struct ReducerOptions {
  /// Parameters that no rank's loss depends on keep their gradients, at the price of a walk over the graph.
  /// Off: such a parameter is an error that names it, at the end of the first backward pass.
  bool find_unused_parameters = false;
  bool static_graph = false;  ///< the same parameters take part in every step: the walk is done once
  double bucket_cap_mb = 25;  ///< gradients travel together in buckets of this size
  bool gradient_as_bucket_view = false;  ///< gradients live in the buckets: less memory, one copy less
  bool broadcast_buffers = true;         ///< rank 0's buffers go to all before each forward pass
  CommHook hook = CommHook::none;
};

/// How ranks with unequal amounts of data work together.
struct JoinOptions {
  /// The sum of gradients is divided by the number of all ranks, so that a row has the same weight
  /// throughout; else by the number of those that still have data.
  bool divide_by_initial_world_size = true;
};

/// The tensors of a model that ranks share.
struct SharedTensors {
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  std::vector<at::Tensor> buffers = {};
  std::vector<std::string> sparse_gradients = {};  ///< names of parameters whose gradients are sparse
};

/// The engine of DistributedDataParallel: after each backward pass the gradients of all ranks are their mean.
/// Built on c10d::Reducer, which sends a bucket while the pass still computes the others. Knows nothing of
/// modules.
class GradientReducer {
 public:
  /// COLLECTIVE. Makes sure that all ranks have the same parameters by name, shape and type, and gives all of
  /// them rank 0's values. Parameters without requires_grad take no part. `group` must outlive this. THROWS:
  /// DistributedError where ranks have different models; UsageError where no parameter needs a gradient.
  GradientReducer(ProcessGroup& group, SharedTensors tensors, const ReducerOptions& options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Before a forward pass whose backward pass will be called. COLLECTIVE unless synchronisation is off.
  void before_forward();

  /// After it: `outputs` are all tensors that the forward pass returned. Returns them in the same order; the
  /// loss must be computed from what is returned.
  std::vector<at::Tensor> prepare(std::vector<at::Tensor> outputs);

  /// loss.backward(). COLLECTIVE unless synchronisation is off. THROWS: DistributedError where the exchange
  /// of gradients fails; loss.backward() itself throws what c10d does, which names no rank.
  void backward(const at::Tensor& loss);

  /// Off: backward passes add up gradients locally, and nothing travels. The next pass with it on sends the
  /// sum. Holds for a forward pass and its backward pass together.
  void set_synchronised(bool on);
  bool synchronised() const noexcept;

  /// COLLECTIVE, both. Between the two, ranks may run different numbers of synchronised passes. A rank that
  /// has none left calls end_join, which takes part in the others' exchanges until all have come, and then
  /// gives every rank the values of one that went on to the end. THROWS: UsageError with static_graph.
  void begin_join(const JoinOptions& options = {});
  void end_join();

  /// Drops all gradients, or with gradient_as_bucket_view sets them to zero where they are.
  void zero_grad();

  const ProcessGroup& group() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with callbacks of a backward pass that is under way
};

/// What a rank multiplies the mean loss over its own `local_rows` rows by, so that the mean gradient over
/// ranks is that of the mean loss over all rows, however unequal the ranks' batches are: local_rows *
/// world_size / all rows. 0 for an empty batch. COLLECTIVE.
double loss_scale(ProcessGroup& group, std::int64_t local_rows);

}  // namespace ranktune::dist
