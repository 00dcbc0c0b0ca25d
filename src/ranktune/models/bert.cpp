#include "ranktune/models/bert.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "ranktune/models/activation.h"
#include "ranktune/ops/attention.h"
#include "ranktune/ops/dropout.h"
#include "ranktune/ops/dropout_add_norm.h"

namespace ranktune::models {
namespace {

void add_linear(std::vector<ParameterShape>& shapes, const std::string& name, std::int64_t out,
                std::int64_t in) {
  shapes.push_back({name + ".weight", {out, in}});
  shapes.push_back({name + ".bias", {out}});
}

void add_norm(std::vector<ParameterShape>& shapes, const std::string& name, std::int64_t size) {
  shapes.push_back({name + ".weight", {size}});
  shapes.push_back({name + ".bias", {size}});
}

std::string layer_name(std::int64_t number) {
  return "bert.encoder.layer." + std::to_string(number);
}

/// Dropouts are numbered in the order in which a token meets them: the embeddings' first, then three per
/// layer (attention probabilities, attention output, feed-forward output), then the head's.
std::uint32_t layer_site(std::uint32_t layer, std::uint32_t place) {
  return 1 + 3 * layer + place;
}

}  // namespace

struct BertForSequenceClassification::Step {
  ops::SequenceLayout layout;        ///< of all tokens
  ops::SequenceLayout first_layout;  ///< of the first tokens alone: one "sequence" of one token per row
  at::Tensor first_tokens;           ///< [B] int64, on the model's device
  ForwardContext context;

  Step(const TokenBatch& batch, const ForwardContext& forward_context)
      : layout{batch.offsets, batch.rows},
        first_layout{at::arange(batch.sequences() + 1, at::kLong), batch.rows},
        first_tokens(batch.offsets.narrow(0, 0, batch.sequences()).to(batch.ids.device())),
        context(forward_context) {}

  ops::DropoutMask mask(double probability, std::uint32_t site) const {
    return {context.training ? probability : 0.0, context.seed, context.step, site};
  }
};

std::vector<ParameterShape> BertForSequenceClassification::parameter_shapes(const ModelConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  std::vector<ParameterShape> shapes;
  shapes.push_back({"bert.embeddings.word_embeddings.weight", {config.vocab_size, hidden}});
  shapes.push_back({"bert.embeddings.position_embeddings.weight", {config.max_position_embeddings, hidden}});
  shapes.push_back({"bert.embeddings.token_type_embeddings.weight", {config.type_vocab_size, hidden}});
  add_norm(shapes, "bert.embeddings.LayerNorm", hidden);
  for (std::int64_t number = 0; number < config.num_hidden_layers; ++number) {
    const std::string layer = layer_name(number);
    for (const char* part : {"query", "key", "value"})
      add_linear(shapes, layer + ".attention.self." + part, hidden, hidden);
    add_linear(shapes, layer + ".attention.output.dense", hidden, hidden);
    add_norm(shapes, layer + ".attention.output.LayerNorm", hidden);
    add_linear(shapes, layer + ".intermediate.dense", inner, hidden);
    add_linear(shapes, layer + ".output.dense", hidden, inner);
    add_norm(shapes, layer + ".output.LayerNorm", hidden);
  }
  add_linear(shapes, "bert.pooler.dense", hidden, hidden);
  add_linear(shapes, "classifier", static_cast<std::int64_t>(config.id2label.size()), hidden);
  return shapes;
}

BertForSequenceClassification::BertForSequenceClassification(ModelConfig config, NamedTensors parameters)
    : config_(std::move(config)), parameters_(std::move(parameters)) {
  const std::unordered_map<std::string, at::Tensor> by_name(parameters_.begin(), parameters_.end());
  const auto pair = [&](const std::string& name) {
    return Linear{by_name.at(name + ".weight"), by_name.at(name + ".bias")};
  };
  word_ = by_name.at("bert.embeddings.word_embeddings.weight");
  position_ = by_name.at("bert.embeddings.position_embeddings.weight");
  type_ = by_name.at("bert.embeddings.token_type_embeddings.weight");
  embedding_norm_ = pair("bert.embeddings.LayerNorm");
  for (std::int64_t number = 0; number < config_.num_hidden_layers; ++number) {
    const std::string layer = layer_name(number);
    layers_.push_back({pair(layer + ".attention.self.query"), pair(layer + ".attention.self.key"),
                       pair(layer + ".attention.self.value"), pair(layer + ".attention.output.dense"),
                       pair(layer + ".attention.output.LayerNorm"), pair(layer + ".intermediate.dense"),
                       pair(layer + ".output.dense"), pair(layer + ".output.LayerNorm")});
  }
  pooler_ = pair("bert.pooler.dense");
  classifier_ = pair("classifier");
}

std::unique_ptr<SequenceClassifier> BertForSequenceClassification::with_parameters(
    NamedTensors parameters) const {
  return std::make_unique<BertForSequenceClassification>(config_, std::move(parameters));
}

std::vector<std::string> BertForSequenceClassification::sparse_gradients() const {
  if (!word_.is_cpu()) return {};
  return {"bert.embeddings.word_embeddings.weight"};
}

at::Tensor BertForSequenceClassification::embed(const TokenBatch& batch, const Step& step) const {
  // The padding token's row takes no gradient, wherever its id occurs. The gradient is sparse on the CPU: a
  // batch has hundreds of words of thirty thousand. GPUs reduce dense ones faster, and NCCL no others.
  const at::Tensor words = at::embedding(word_, batch.ids, config_.pad_token_id.value_or(-1),
                                         /*scale_grad_by_freq=*/false, /*sparse=*/word_.is_cpu());
  at::Tensor x = words + at::embedding(type_, batch.type_ids);
  x = x + at::embedding(position_, batch.position_ids);
  x = at::layer_norm(x, {config_.hidden_size}, embedding_norm_.weight, embedding_norm_.bias,
                     config_.layer_norm_eps);
  return ops::dropout(x, step.layout, step.mask(config_.hidden_dropout_prob, 0));
}

at::Tensor BertForSequenceClassification::run_layer(const Layer& layer, std::uint32_t number,
                                                    const at::Tensor& x, bool first_tokens_only,
                                                    const Step& step) const {
  const auto linear = [](const Linear& part, const at::Tensor& input) {
    return at::linear(input, part.weight, part.bias);
  };
  const at::Tensor asking = first_tokens_only ? x.index_select(0, step.first_tokens) : x;
  const ops::SequenceLayout& layout = first_tokens_only ? step.first_layout : step.layout;
  const auto add_and_norm = [&](const at::Tensor& input, const at::Tensor& residual, const Linear& norm,
                                std::uint32_t place) {
    return ops::dropout_add_norm(input, residual, norm.weight, norm.bias, config_.layer_norm_eps, layout,
                                 step.mask(config_.hidden_dropout_prob, layer_site(number, place)));
  };
  const at::Tensor context = ops::attention(
      linear(layer.query, asking), linear(layer.key, x), linear(layer.value, x), config_.num_attention_heads,
      first_tokens_only ? ops::Queries::first_tokens : ops::Queries::all_tokens, step.layout,
      step.mask(config_.attention_probs_dropout_prob, layer_site(number, 0)));
  const at::Tensor attended =
      add_and_norm(linear(layer.attention_output, context), asking, layer.attention_norm, 1);
  const at::Tensor inner = activate(config_.activation(), linear(layer.intermediate, attended));
  return add_and_norm(linear(layer.output, inner), attended, layer.output_norm, 2);
}

at::Tensor BertForSequenceClassification::hidden_states(const TokenBatch& batch,
                                                        const ForwardContext& context) const {
  const Step step(batch, context);
  at::Tensor x = embed(batch, step);
  for (std::size_t i = 0; i < layers_.size(); ++i)
    x = run_layer(layers_[i], static_cast<std::uint32_t>(i), x, false, step);
  return x;
}

at::Tensor BertForSequenceClassification::forward(const TokenBatch& batch,
                                                  const ForwardContext& context) const {
  const Step step(batch, context);
  at::Tensor x = embed(batch, step);
  for (std::size_t i = 0; i < layers_.size(); ++i)
    x = run_layer(layers_[i], static_cast<std::uint32_t>(i), x, i + 1 == layers_.size(), step);
  if (layers_.empty()) x = x.index_select(0, step.first_tokens);
  const at::Tensor pooled = at::tanh(at::linear(x, pooler_.weight, pooler_.bias));
  const double probability = config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
  const auto site = layer_site(static_cast<std::uint32_t>(layers_.size()), 0);
  return at::linear(ops::dropout(pooled, step.first_layout, step.mask(probability, site)), classifier_.weight,
                    classifier_.bias);
}

}  // namespace ranktune::models
