#include "ranktune/models/data_parallel_classifier.h"

#include <gtest/gtest.h>

#include "support/classifier.h"

namespace ranktune::models {
namespace {

using tests::batch_of;
using tests::difference;
using tests::gradients_of;
using tests::tiny_classifier;

std::vector<at::Device> replicas(std::size_t count) {
  return std::vector<at::Device>(count, at::Device(at::kCPU));
}

TEST(DataParallelClassifier, GivesTheModelsOwnLogitsAndGradientsForAnySplit) {
  const auto plain = tiny_classifier();
  const ForwardContext context{.training = true, .seed = 42, .step = 3};
  for (const std::int64_t sequences : {1, 2, 7, 8, 9}) {
    const TokenBatch batch = batch_of(sequences, 5);
    const at::Tensor expected = plain->forward(batch, context);
    const auto wanted = gradients_of(*plain, expected);
    for (const std::size_t devices : {1U, 2U, 3U, 4U}) {
      const DataParallelClassifier parallel(tiny_classifier(), replicas(devices));
      const at::Tensor actual = parallel.forward(batch, context);
      EXPECT_LE(difference(actual, expected), 1e-6);
      const auto found = gradients_of(parallel, actual);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LE(difference(found[i], wanted[i]), 2e-5 * (1 + wanted[i].abs().max().item<double>()))
            << plain->named_parameters()[i].first << ", " << sequences << " on " << devices;
    }
  }
}

TEST(DataParallelClassifier, RemembersNothingWhereGradientsAreOff) {
  const at::NoGradGuard no_gradients;
  const DataParallelClassifier parallel(tiny_classifier(), replicas(3));
  const at::Tensor logits = parallel.forward(batch_of(8), {});
  EXPECT_FALSE(logits.requires_grad());
  EXPECT_LE(difference(logits, tiny_classifier()->forward(batch_of(8), {})), 1e-6);
}

TEST(DataParallelClassifier, TakesAnEmptyBatch) {
  const DataParallelClassifier parallel(tiny_classifier(), replicas(2));
  EXPECT_EQ(parallel.forward(batch_of(0), {}).sizes(), (std::vector<std::int64_t>{0, 3}));
}

}  // namespace
}  // namespace ranktune::models
