#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranktune/models/config.h"
#include "ranktune/models/token_batch.h"

namespace ranktune::models {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// A parameter before it has values.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// An encoder with a classification head. THREAD SAFETY: forward may run in several threads when gradients
/// are off.
class SequenceClassifier {
 public:
  virtual ~SequenceClassifier() = default;

  /// Logits [B, num_labels], float32, on the model's device. Differentiable where gradients are on.
  virtual at::Tensor forward(const TokenBatch& batch, const ForwardContext& context) const = 0;

  /// All parameters under their Hugging Face names, in model order. Tensors share storage with the model.
  virtual const NamedTensors& named_parameters() const = 0;

  virtual const ModelConfig& config() const = 0;

  /// Names of the parameters whose gradients are sparse tensors.
  virtual std::vector<std::string> sparse_gradients() const { return {}; }

  /// The same model on other tensors. REQUIRES: `parameters` as named_parameters() lists them: names, order,
  /// shapes.
  virtual std::unique_ptr<SequenceClassifier> with_parameters(NamedTensors parameters) const = 0;
};

/// A model that computes as another one in its own way: what it does not say itself is the other's.
class WrappedClassifier : public SequenceClassifier {
 public:
  const NamedTensors& named_parameters() const override { return model_->named_parameters(); }
  const ModelConfig& config() const override { return model_->config(); }
  std::vector<std::string> sparse_gradients() const override { return model_->sparse_gradients(); }

 protected:
  explicit WrappedClassifier(std::unique_ptr<SequenceClassifier> model) : model_(std::move(model)) {}
  const SequenceClassifier& model() const { return *model_; }

 private:
  std::unique_ptr<SequenceClassifier> model_;
};

/// A copy of the model on `device`, parameters included.
std::unique_ptr<SequenceClassifier> replicate(const SequenceClassifier& model, at::Device device);

/// What load_sequence_classifier is told.
struct LoadOptions {
  std::vector<std::string>
      labels;                     ///< names of the labels, in order of their ids; empty: those of config.json
  std::string problem_type = {};  ///< written into the config; empty: that of config.json
  std::uint64_t seed = 42;        ///< for parameters that the file lacks
  bool ignore_mismatched_sizes = false;  ///< give parameters whose shape in the file differs fresh values
};

/// A model and what became of the file's tensors.
struct LoadedModel {
  std::unique_ptr<SequenceClassifier> model;
  std::vector<std::string> initialized;  ///< parameters that the file lacks, or has in another shape
  std::vector<std::string> unused;       ///< tensors of the file that the model has no place for
};

/// Reads config.json and model.safetensors of a folder. Parameters that the file lacks are drawn as Hugging
/// Face draws them: normal(0, initializer_range) from a CPU generator seeded with `seed`, in model order;
/// biases 0. THROWS: CheckpointError, DataError for files that are absent, damaged or do not fit the config.
LoadedModel load_sequence_classifier(const std::filesystem::path& folder, const LoadOptions& options);

/// Writes config.json and model.safetensors so that each is the old file or the new one, never a part.
void save_sequence_classifier(const SequenceClassifier& model, const std::filesystem::path& folder);

}  // namespace ranktune::models
