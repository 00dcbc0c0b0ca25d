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

/// AdamW, to the bit what the Trainer's default optimizer (adamw_torch_fused) does.
class AdamW {
 public:
  /// Keeps the tensors themselves, which are updated in place.
  AdamW(const models::NamedTensors& parameters, const AdamWOptions& options);

  /// One update with the gradients that the parameters have. Those without a gradient stay as they are.
  void step(double learning_rate);

  /// Drops all gradients, so that the next backward pass stores its own instead of adding to them.
  void zero_grad();

 private:
  struct Group {
    double weight_decay = 0;
    std::vector<at::Tensor> parameters, means, squares;  ///< means and squares: of past gradients
  };
  void update(const Group& group, double learning_rate) const;

  AdamWOptions options_;
  std::vector<Group> groups_;  ///< with decay, without decay; each in model order
  at::Tensor steps_;           ///< scalar float32: updates done; all parameters share it
};

/// Scales all gradients down so that their common L2 norm is at most `max_norm` (0 or less: leaves them).
/// Returns the norm before that; 0 when no parameter has a gradient.
double clip_gradients(const models::NamedTensors& parameters, double max_norm);

}  // namespace ranktune::train
