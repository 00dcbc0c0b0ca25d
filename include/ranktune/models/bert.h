#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "ranktune/models/config.h"
#include "ranktune/models/sequence_classifier.h"
#include "ranktune/models/token_batch.h"

namespace ranktune::models {

/// BERT (Devlin, Chang, Lee, Toutanova 2018) with a classification head, on packed batches: a post-norm
/// encoder, the first token through a dense layer and tanh, dropout, and a linear classifier. The last layer
/// computes the first token alone, since the head reads nothing else.
class BertForSequenceClassification final : public SequenceClassifier {
 public:
  /// Names and shapes of all parameters, in model order. The head comes last and has as many rows as there
  /// are labels.
  static std::vector<ParameterShape> parameter_shapes(const ModelConfig& config);

  /// REQUIRES: `parameters` as parameter_shapes(config) lists them, float32, on one device.
  BertForSequenceClassification(ModelConfig config, NamedTensors parameters);

  at::Tensor forward(const TokenBatch& batch, const ForwardContext& context) const override;
  const NamedTensors& named_parameters() const override { return parameters_; }
  const ModelConfig& config() const override { return config_; }
  std::vector<std::string> sparse_gradients() const override;
  std::unique_ptr<SequenceClassifier> with_parameters(NamedTensors parameters) const override;

  /// The encoder's output for every token: [T, H].
  at::Tensor hidden_states(const TokenBatch& batch, const ForwardContext& context) const;

 private:
  struct Linear {
    at::Tensor weight, bias;
  };
  struct Layer {
    Linear query, key, value, attention_output;
    Linear attention_norm;
    Linear intermediate, output;
    Linear output_norm;
  };
  struct Step;  // what one forward pass carries along

  at::Tensor embed(const TokenBatch& batch, const Step& step) const;
  at::Tensor run_layer(const Layer& layer, std::uint32_t number, const at::Tensor& x, bool first_tokens_only,
                       const Step& step) const;

  ModelConfig config_;
  NamedTensors parameters_;
  at::Tensor word_, position_, type_;
  Linear embedding_norm_, pooler_, classifier_;
  std::vector<Layer> layers_;
};

}  // namespace ranktune::models
