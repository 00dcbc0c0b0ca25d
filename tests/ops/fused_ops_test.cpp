// The fused operations against their plain ATen references: values and gradients, at shapes that hit every
// tail.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <vector>

#include "ranktune/core/random.h"
#include "ranktune/ops/attention.h"
#include "ranktune/ops/dropout.h"
#include "ranktune/ops/dropout_add_norm.h"
#include "ranktune/ops/reference.h"

namespace ranktune::ops {
namespace {

SequenceLayout layout_of(const std::vector<std::int64_t>& lengths, std::int64_t first_row = 0) {
  std::vector<std::int64_t> offsets{0}, rows;
  for (const std::int64_t length : lengths) {
    offsets.push_back(offsets.back() + length);
    rows.push_back(first_row + static_cast<std::int64_t>(rows.size()));
  }
  return {at::tensor(offsets, at::kLong), at::tensor(rows, at::kLong)};
}

std::int64_t tokens_of(const SequenceLayout& layout) {
  return layout.offsets[-1].item<std::int64_t>();
}

at::Tensor random(at::IntArrayRef shape, std::uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, at::TensorOptions(at::kFloat)).set_requires_grad(true);
}

void expect_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance, const char* what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  if (actual.numel() == 0) return;
  EXPECT_LE((actual - expected).abs().max().item<double>(),
            tolerance * (1 + expected.abs().max().item<double>()))
      << what;
}

/// Runs both versions on the same inputs, sends the same gradient back through both, and compares everything.
template <typename Fused, typename Reference>
void compare(const std::vector<at::Tensor>& inputs, Fused fused, Reference reference,
             double tolerance = 2e-6) {
  const at::Tensor expected = reference(), actual = fused();
  expect_close(actual.detach(), expected.detach(), tolerance, "value");
  const at::Tensor gradient = random(expected.sizes(), 99).detach();
  const auto expected_gradients = torch::autograd::grad({expected}, inputs, {gradient});
  const auto actual_gradients = torch::autograd::grad({actual}, inputs, {gradient});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    expect_close(actual_gradients[i], expected_gradients[i], 5 * tolerance, "gradient");
}

const std::vector<std::vector<std::int64_t>> kLengths = {
    {1}, {5}, {3, 1, 7}, {64}, {65, 2}, {130, 17, 48, 1}, {512}};
const DropoutMask kNoMask{};
const DropoutMask kMask{0.1, 42, 7, 3};

TEST(Dropout, IsTheReferenceExactly) {
  for (const auto& lengths : kLengths)
    for (const std::int64_t channels : {1, 15, 64, 100, 384}) {
      const SequenceLayout layout = layout_of(lengths);
      const at::Tensor x = random({tokens_of(layout), channels}, 1);
      EXPECT_TRUE(at::equal(dropout(x, layout, kMask), reference::dropout(x, layout, kMask)));
    }
}

TEST(Dropout, SendsGradientsThroughTheSameMask) {
  const SequenceLayout layout = layout_of({9, 4});
  const at::Tensor x = random({13, 70}, 1);
  compare(
      {x}, [&] { return dropout(x, layout, kMask); }, [&] { return reference::dropout(x, layout, kMask); },
      0);
}

TEST(Dropout, DropsTheAskedShareAndKeepsTheMean) {
  const SequenceLayout layout = layout_of({1000, 1000});
  const at::Tensor factors = reference::dropout_factors(1000, layout, {0.1, 1, 2, 3});
  // 2 million draws: the standard deviation of the share is 0.0002.
  EXPECT_NEAR((factors == 0).to(at::kDouble).mean().item<double>(), 0.1, 0.001);
  EXPECT_NEAR(factors.to(at::kDouble).mean().item<double>(), 1.0, 0.0012);
  EXPECT_FLOAT_EQ(factors.max().item<float>(), 1.0F / 0.9F);
}

TEST(Dropout, MasksOfOtherStepsSitesSeedsRowsAndTokensAreIndependent) {
  const SequenceLayout layout = layout_of({400});
  const auto kept = [&](const DropoutMask& mask, const SequenceLayout& where) {
    return (reference::dropout_factors(384, where, mask) != 0).to(at::kDouble);
  };
  const at::Tensor base = kept({0.5, 42, 7, 3}, layout);
  const auto correlation = [&](const at::Tensor& other) {
    return ((base - 0.5) * (other - 0.5)).mean().item<double>() / 0.25;
  };
  // 153,600 draws: the standard deviation of a correlation is 0.0026.
  EXPECT_NEAR(correlation(kept({0.5, 43, 7, 3}, layout)), 0, 0.013);
  EXPECT_NEAR(correlation(kept({0.5, 42ULL + (1ULL << 32), 7, 3}, layout)), 0, 0.013);
  EXPECT_NEAR(correlation(kept({0.5, 42, 8, 3}, layout)), 0, 0.013);
  EXPECT_NEAR(correlation(kept({0.5, 42, 7, 4}, layout)), 0, 0.013);
  EXPECT_NEAR(correlation(kept({0.5, 42, 7, 3}, layout_of({400}, 1))), 0, 0.013);
  EXPECT_NEAR(correlation(base.roll(1, 0)), 0, 0.013);
  EXPECT_NEAR(correlation(base.roll(1, 1)), 0, 0.013);
}

TEST(Dropout, BelongsToTheRowWhereverItLiesInTheBatch) {
  const at::Tensor together = reference::dropout_factors(96, layout_of({3, 8, 5}, 10), kMask);
  const at::Tensor alone = reference::dropout_factors(96, layout_of({8}, 11), kMask);
  EXPECT_TRUE(at::equal(together.narrow(0, 3, 8), alone));
  const at::Tensor shorter = reference::dropout_factors(96, layout_of({5}, 11), kMask);
  EXPECT_TRUE(at::equal(alone.narrow(0, 0, 5), shorter));
}

TEST(DropoutAddNorm, EqualsTheReference) {
  for (const auto& lengths : kLengths)
    for (const std::int64_t channels : {7, 32, 384})
      for (const DropoutMask& mask : {kNoMask, kMask}) {
        const SequenceLayout layout = layout_of(lengths);
        const std::int64_t tokens = tokens_of(layout);
        const at::Tensor x = random({tokens, channels}, 1), residual = random({tokens, channels}, 2);
        const at::Tensor gamma = random({channels}, 3), beta = random({channels}, 4);
        compare(
            {x, residual, gamma, beta},
            [&] { return dropout_add_norm(x, residual, gamma, beta, 1e-12, layout, mask); },
            [&] { return reference::dropout_add_norm(x, residual, gamma, beta, 1e-12, layout, mask); }, 1e-5);
      }
}

TEST(Attention, EqualsTheReference) {
  for (const auto& lengths : kLengths)
    for (const std::int64_t head_dim : {5, 8, 32, 64})
      for (const DropoutMask& mask : {kNoMask, kMask})
        for (const Queries queries : {Queries::all_tokens, Queries::first_tokens}) {
          const SequenceLayout layout = layout_of(lengths, 5);
          const std::int64_t heads = 3, width = heads * head_dim, tokens = tokens_of(layout);
          const std::int64_t asking = queries == Queries::all_tokens ? tokens : layout.rows.size(0);
          const at::Tensor q = random({asking, width}, 1), k = random({tokens, width}, 2),
                           v = random({tokens, width}, 3);
          compare(
              {q, k, v}, [&] { return attention(q, k, v, heads, queries, layout, mask); },
              [&] { return reference::attention(q, k, v, heads, queries, layout, mask); }, 5e-6);
        }
}

TEST(Attention, StaysFiniteWithScoresOfAnySize) {
  const SequenceLayout layout = layout_of({6});
  const at::Tensor q = random({6, 32}, 1).detach() * 200, k = random({6, 32}, 2).detach() * 200;
  const at::Tensor v = random({6, 32}, 3).detach();
  const at::Tensor out = attention(q, k, v, 2, Queries::all_tokens, layout, kNoMask);
  expect_close(out, reference::attention(q, k, v, 2, Queries::all_tokens, layout, kNoMask), 1e-5, "value");
}

TEST(EveryOperation, TakesAnEmptyBatch) {
  const SequenceLayout layout = layout_of({});
  const at::Tensor x = random({0, 32}, 1), residual = random({0, 32}, 2), gamma = random({32}, 3),
                   beta = random({32}, 4);
  at::Tensor out = dropout_add_norm(dropout(x, layout, kMask), residual, gamma, beta, 1e-12, layout, kMask);
  out = attention(out, out, out, 4, Queries::all_tokens, layout, kMask);
  const auto gradients = torch::autograd::grad({out.sum()}, {x, gamma});
  EXPECT_EQ(gradients[0].size(0), 0);
  EXPECT_EQ(gradients[1].abs().sum().item<double>(), 0);
}

TEST(EveryOperation, GivesTheSameBitsWithOneAndWithTwoThreads) {
  const SequenceLayout layout = layout_of({130, 17, 48, 1, 200});
  const std::int64_t tokens = tokens_of(layout);
  const at::Tensor x = random({tokens, 96}, 1), gamma = random({96}, 3), beta = random({96}, 4);
  const auto run = [&](int threads) {
    at::set_num_threads(threads);
    at::Tensor out = attention(x, x, x, 4, Queries::all_tokens, layout, kMask);
    out = dropout_add_norm(out, dropout(x, layout, kMask), gamma, beta, 1e-12, layout, kMask);
    auto gradients = torch::autograd::grad({out.square().sum()}, {x, gamma, beta});
    gradients.push_back(out.detach());
    return gradients;
  };
  const auto one = run(1), two = run(2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], two[i])) << i;
}

}  // namespace
}  // namespace ranktune::ops
