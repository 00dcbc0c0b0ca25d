#include "ranktune/models/threaded_classifier.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>

#include "support/classifier.h"

namespace ranktune::models {
namespace {

using tests::batch_of;
using tests::difference;
using tests::gradients_of;

std::unique_ptr<SequenceClassifier> load_model() {
  return tests::tiny_classifier();
}

class ThreadedBert : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { at::set_num_threads(GetParam()); }
  void TearDown() override { at::set_num_threads(1); }
};

TEST_P(ThreadedBert, GivesTheModelsOwnLogitsAndGradients) {
  const auto plain = load_model();
  const ThreadedClassifier threaded(load_model(), GetParam());
  const ForwardContext context{.training = true, .seed = 42, .step = 3};
  const TokenBatch batch = batch_of(32, 7);
  const at::Tensor expected = plain->forward(batch, context), actual = threaded.forward(batch, context);
  EXPECT_LE(difference(actual, expected), 1e-6);
  const auto wanted = gradients_of(*plain, expected), found = gradients_of(threaded, actual);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LE(difference(found[i], wanted[i]), 2e-5 * (1 + wanted[i].abs().max().item<double>()))
        << plain->named_parameters()[i].first;
}

TEST_P(ThreadedBert, RemembersNothingWhereGradientsAreOff) {
  const at::NoGradGuard no_gradients;
  const ThreadedClassifier threaded(load_model(), GetParam());
  const at::Tensor logits = threaded.forward(batch_of(40), {});
  EXPECT_FALSE(logits.requires_grad());
  EXPECT_LE(difference(logits, load_model()->forward(batch_of(40), {})), 1e-6);
}

TEST_P(ThreadedBert, SeesItsParametersChange) {
  const ThreadedClassifier threaded(load_model(), GetParam());
  const at::NoGradGuard no_gradients;
  const at::Tensor before = threaded.forward(batch_of(40), {});
  threaded.named_parameters().back().second.add_(1.5);  // the head's bias
  EXPECT_LE(difference(threaded.forward(batch_of(40), {}), before + 1.5), 1e-6);
}

TEST_P(ThreadedBert, LeavesFrozenParametersWithoutGradient) {
  const ThreadedClassifier threaded(
      [] {
        auto model = load_model();
        model->named_parameters().front().second.set_requires_grad(false);
        return model;
      }(),
      GetParam());
  threaded.forward(batch_of(32), {}).sum().backward();
  EXPECT_FALSE(threaded.named_parameters().front().second.grad().defined());
  EXPECT_TRUE(threaded.named_parameters().back().second.grad().defined());
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadedBert, testing::Values(1, 2, 3));

TEST(ShareSequences, GivesEveryThreadAboutAsManyTokens) {
  for (const std::int64_t parts : {1, 2, 3, 5, 8}) {
    const TokenBatch batch = batch_of(100);
    const std::vector<std::int64_t> boundaries = share_sequences(batch, parts);
    ASSERT_EQ(std::ssize(boundaries), parts + 1);
    EXPECT_EQ(boundaries.front(), 0);
    EXPECT_EQ(boundaries.back(), 100);
    const auto* offsets = batch.offsets.const_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
      const std::int64_t tokens = offsets[boundaries[i + 1]] - offsets[boundaries[i]];
      EXPECT_NEAR(static_cast<double>(tokens),
                  static_cast<double>(batch.tokens()) / static_cast<double>(parts), 17)
          << parts << ' ' << i;
    }
  }
}

TEST(ShareSequences, KeepsTogetherWhatIsTooSmallToShare) {
  using Boundaries = std::vector<std::int64_t>;
  EXPECT_EQ(share_sequences(batch_of(0), 4), (Boundaries{0, 0}));
  EXPECT_EQ(share_sequences(batch_of(7), 2), (Boundaries{0, 7}));    // few sequences
  EXPECT_EQ(share_sequences(batch_of(12), 3), (Boundaries{0, 12}));  // few tokens
  EXPECT_EQ(share_sequences(batch_of(500), 16), (Boundaries{0, 500}));
  TokenBatch one_long = make_token_batch(std::vector<std::int64_t>(508, 7), std::vector<std::int64_t>(508, 0),
                                         {0, 500, 501, 502, 503, 504, 505, 506, 508},
                                         std::vector<std::int64_t>(8, 0), at::kCPU);
  EXPECT_EQ(share_sequences(one_long, 2), (Boundaries{0, 8}));  // no cut would be a fair one
}

TEST(ThreadsOfThisProject, WorkAtTheSameTime) {
  at::set_num_threads(2);
  std::array<int, 2> seen{-1, -1};
  at::parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t) {
    seen[static_cast<std::size_t>(begin)] = at::get_thread_num();
  });
  at::set_num_threads(1);
  EXPECT_EQ(seen, (std::array<int, 2>{0, 1})) << "compiled without OpenMP: at::parallel_for is a plain loop";
}

}  // namespace
}  // namespace ranktune::models
