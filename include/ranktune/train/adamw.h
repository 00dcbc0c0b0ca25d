#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "ranktune/models/sequence_classifier.h"

namespace ranktune::train {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
};

/// Whether weight decay applies to a parameter, by the Trainer's rule over Hugging Face names: not to biases
/// and not to the parameters of norms.
bool is_decayed(const std::string& parameter_name);

/// AdamW, to the bit what the Trainer's default optimizer (adamw_torch_fused) does. Of a parameter with
/// sparse gradients, such as a word embedding, only rows that ever had a gradient are kept account of: the
/// others have means of zero, for which the formula changes nothing but the decay.
class AdamW {
 public:
  /// Keeps the tensors themselves, which are updated in place.
  AdamW(const models::NamedTensors& parameters, const AdamWOptions& options);

  /// One update with the gradients that the parameters have. Those without a gradient stay as they are.
  void step(double learning_rate);

  /// Drops all gradients, so that the next backward pass stores its own instead of adding to them.
  void zero_grad();

 private:
  struct Parameter {
    at::Tensor value;
    double weight_decay = 0;
    at::Tensor mean = {}, square = {};  ///< of past gradients; by_rows: [capacity, ...], slot by slot
    bool by_rows = false;               ///< the first gradient was sparse
    at::Tensor row_slots = {};          ///< [rows] int64, -1: no slot; by_rows only
    std::vector<std::int64_t> slot_rows = {};
  };
  struct Batch;  // what one fused call updates

  void start(Parameter& parameter) const;
  void update(const Batch& batch, double learning_rate, double weight_decay) const;
  void update_rows(Parameter& parameter, double learning_rate) const;

  AdamWOptions options_;
  std::vector<Parameter> parameters_;  ///< in model order
  at::Tensor steps_;                   ///< scalar float32: updates done; all parameters share it
};

/// Scales all gradients down so that their common L2 norm is at most `max_norm` (0 or less: leaves them).
/// Returns the norm before that; 0 when no parameter has a gradient.
double clip_gradients(const models::NamedTensors& parameters, double max_norm);

}  // namespace ranktune::train
