#pragma once

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "ranktune/dist/gradient_reducer.h"

namespace ranktune::dist {

struct GradientReducer::State : std::enable_shared_from_this<GradientReducer::State> {
  State(ProcessGroup& process_group, SharedTensors shared, const ReducerOptions& reducer_options);

  ProcessGroup& group;
  SharedTensors tensors;  ///< the parameters that are trained, and all buffers
  ReducerOptions options;
  std::shared_ptr<c10d::Reducer> reducer;
  bool synchronised = true;
  bool buffers_are_stale = false;
  bool first_pass = true;
  std::optional<JoinOptions> join = {};  ///< while ranks may run out of data

  void share_values(std::int64_t source);
  void make();
  void broadcast(std::vector<at::Tensor> list, std::int64_t source);
  void at_end_of_backward();

  std::int64_t count_active(bool active);
  void begin_pass_among_joined();
  void shadow_pass();
  void exchange_before_pass(bool active);
};

}  // namespace ranktune::dist
