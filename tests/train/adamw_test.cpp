#include "ranktune/train/adamw.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ranktune::train {
namespace {

at::Tensor tensor_of(std::vector<float> values, std::vector<std::int64_t> shape) {
  return at::from_blob(values.data(), shape, at::kFloat).clone();
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const auto* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

void expect_float_eq(const at::Tensor& tensor, const std::vector<float>& expected) {
  const std::vector<float> values = values_of(tensor);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_FLOAT_EQ(values[i], expected[i]) << "at " << i;
}

models::NamedTensors weight_and_bias() {
  return {
      {"layer.weight", tensor_of({0.5F, -0.25F, 1.0F, 2.0F, -1.5F, 0.125F}, {2, 3}).set_requires_grad(true)},
      {"layer.bias", tensor_of({0.1F, -0.2F}, {2}).set_requires_grad(true)}};
}

void set_gradients(models::NamedTensors& parameters, std::vector<float> weight, std::vector<float> bias) {
  parameters[0].second.mutable_grad() = tensor_of(std::move(weight), {2, 3});
  parameters[1].second.mutable_grad() = tensor_of(std::move(bias), {2});
}

// torch.optim.AdamW(fused=True) and torch.nn.utils.clip_grad_norm_ of torch 2.13 printed the figures: weight
// decay 0.01 on the weight and 0 on the bias, clipping at 1, rates 0, 1e-2, 5e-3.
TEST(AdamW, FollowsTheTrainersOptimizer) {
  models::NamedTensors parameters = weight_and_bias();
  AdamW optimizer(parameters, {.weight_decay = 0.01});

  set_gradients(parameters, {0.3F, -1.2F, 0.7F, 0.05F, 2.0F, -0.4F}, {0.5F, -0.9F});
  EXPECT_FLOAT_EQ(static_cast<float>(clip_gradients(parameters, 1.0)), 0x1.5878e4p+1F);
  optimizer.step(0.0);
  expect_float_eq(parameters[0].second, {0.5F, -0.25F, 1.0F, 2.0F, -1.5F, 0.125F});

  set_gradients(parameters, {-0.6F, 0.9F, 0.1F, 1.5F, -0.2F, 0.8F}, {1.1F, 0.3F});
  EXPECT_FLOAT_EQ(static_cast<float>(clip_gradients(parameters, 1.0)), 0x1.29b86ep+1F);
  optimizer.step(1e-2);
  expect_float_eq(parameters[0].second, {0x1.021c9ap-1F, -0x1.ff93e8p-3F, 0x1.fbf144p-1F, 0x1.fdfec6p+0F,
                                         -0x1.81725p+0F, 0x1.eed9a2p-4F});
  expect_float_eq(parameters[1].second, {0x1.7332a2p-4F, -0x1.92489cp-3F});

  set_gradients(parameters, {0.02F, 0.03F, -0.01F, 0.0F, 0.04F, 0.01F}, {0.01F, -0.02F});
  EXPECT_FLOAT_EQ(static_cast<float>(clip_gradients(parameters, 1.0)), 0x1.eb851cp-5F);
  optimizer.step(5e-3);
  expect_float_eq(parameters[0].second, {0x1.02ce8p-1F, -0x1.ffbdcp-3F, 0x1.fa6e88p-1F, 0x1.fd36f2p+0F,
                                         -0x1.820b46p+0F, 0x1.e7deaep-4F});
  expect_float_eq(parameters[1].second, {0x1.6419cp-4F, -0x1.8f187p-3F});
}

/// A sparse [rows, 2] gradient: `values` at the rows of `indices`, which may repeat.
at::Tensor sparse_gradient(std::vector<std::int64_t> indices, std::vector<float> values, std::int64_t rows) {
  const auto count = static_cast<std::int64_t>(indices.size());
  const at::Tensor where = at::from_blob(indices.data(), {1, count}, at::kLong).clone();
  return at::sparse_coo_tensor(where, tensor_of(std::move(values), {count, 2}), {rows, 2});
}

// The fused optimizer on dense gradients is the judge.
TEST(AdamW, DoesTheSameWithSparseGradients) {
  for (const double weight_decay : {0.0, 0.01}) {
    const auto table = [] {
      return models::NamedTensors{
          {"words.weight", at::linspace(-1, 1, 12, at::kFloat).view({6, 2}).clone().set_requires_grad(true)}};
    };
    models::NamedTensors sparse = table(), dense = table();
    AdamW by_rows(sparse, {.weight_decay = weight_decay}), whole(dense, {.weight_decay = weight_decay});
    const std::vector<at::Tensor> gradients = {
        sparse_gradient({4, 1, 4}, {0.5F, -1, 2, 0.25F, 0.75F, 3}, 6), sparse_gradient({}, {}, 6),
        sparse_gradient({0, 5, 1}, {1, 1, -2, 0.5F, 1e-3F, -4}, 6), sparse_gradient({4}, {0.1F, -0.1F}, 6)};
    for (const at::Tensor& gradient : gradients) {
      sparse[0].second.mutable_grad() = gradient;
      dense[0].second.mutable_grad() = gradient.to_dense();
      EXPECT_FLOAT_EQ(static_cast<float>(clip_gradients(sparse, 1.0)),
                      static_cast<float>(clip_gradients(dense, 1.0)));
      by_rows.step(1e-2);
      whole.step(1e-2);
      expect_float_eq(sparse[0].second, values_of(dense[0].second));
    }
    // Dense gradients may follow, as when a parameter is used in another place as well.
    sparse[0].second.mutable_grad() = at::ones({6, 2});
    dense[0].second.mutable_grad() = at::ones({6, 2});
    by_rows.step(1e-2);
    whole.step(1e-2);
    expect_float_eq(sparse[0].second, values_of(dense[0].second));
  }
}

TEST(AdamW, LeavesParametersWithoutAGradientAlone) {
  models::NamedTensors parameters = weight_and_bias();
  AdamW optimizer(parameters, {.weight_decay = 0.5});
  optimizer.step(0.1);
  expect_float_eq(parameters[0].second, {0.5F, -0.25F, 1.0F, 2.0F, -1.5F, 0.125F});
  set_gradients(parameters, {1, 1, 1, 1, 1, 1}, {1, 1});
  optimizer.zero_grad();
  EXPECT_FALSE(parameters[0].second.grad().defined());
  EXPECT_FALSE(parameters[1].second.grad().defined());
}

TEST(AdamW, DecaysNeitherBiasesNorNorms) {
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "bert.pooler.dense.weight", "classifier.weight",
        "deberta.encoder.rel_embeddings.weight", "model.normal.weight"})
    EXPECT_TRUE(is_decayed(name)) << name;
  for (const char* name :
       {"classifier.bias", "bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.bias",
        "distilbert.transformer.layer.0.sa_layer_norm.weight", "albert.encoder.full_layer_layer_norm.weight",
        "model.layers.3.attn_norm.weight", "model.final_norm.weight", "decoder.norm.weight",
        "block.RMSNorm.weight"})
    EXPECT_FALSE(is_decayed(name)) << name;
}

TEST(ClipGradients, MeasuresWithoutChangingWhenClippingIsOffOrNotNeeded) {
  models::NamedTensors parameters = weight_and_bias();
  set_gradients(parameters, {3, 0, 0, 0, 0, 0}, {0, 4});
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, 0.0), 5.0);
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, 10.0), 5.0);
  expect_float_eq(parameters[1].second.grad(), {0, 4});
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, 2.5), 5.0);
  expect_float_eq(parameters[1].second.grad(), {0, 2.5F / (5.0F + 1e-6F) * 4});
  EXPECT_EQ(clip_gradients({}, 1.0), 0.0);
}

TEST(ClipGradients, TellsOfGradientsThatAreNotFinite) {
  models::NamedTensors parameters = weight_and_bias();
  set_gradients(parameters, {3, 0, 0, 0, 0, std::numeric_limits<float>::quiet_NaN()}, {0, 4});
  EXPECT_TRUE(std::isnan(clip_gradients(parameters, 1.0)));
}

}  // namespace
}  // namespace ranktune::train
