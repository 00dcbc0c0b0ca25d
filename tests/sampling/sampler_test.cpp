#include "ranktune/sampling/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace ranktune::sampling {
namespace {

using Order = std::vector<std::int64_t>;
using testing::ElementsAre;

const Order kLengths10 = {5, 9, 3, 12, 7, 7, 4, 10, 6, 8};
const Order kLengths37 = {10, 21, 20, 7,  14, 22, 18, 23, 21, 5,  22, 3,  29, 18, 11, 20, 10, 9, 25,
                          18, 20, 29, 20, 18, 15, 23, 7,  10, 23, 7,  19, 15, 26, 3,  24, 27, 5};

// The orders below were printed by transformers 5.24's Trainer and by its length grouping with torch 2.13.

TEST(RandomSampler, VisitsRowsAsTheTrainerDoesForTheSameSeed) {
  const RandomSampler sampler(10, 42);
  EXPECT_THAT(sampler.order(0), ElementsAre(2, 6, 1, 8, 4, 5, 0, 9, 3, 7));
  EXPECT_THAT(sampler.order(1), ElementsAre(8, 4, 9, 0, 5, 1, 6, 7, 2, 3));
  EXPECT_THAT(sampler.order(2), ElementsAre(2, 6, 3, 8, 7, 9, 1, 4, 5, 0));
  EXPECT_THAT(RandomSampler(10, 1).order(0), ElementsAre(5, 6, 1, 2, 0, 8, 9, 3, 7, 4));
  EXPECT_EQ(sampler.size(), 10);
}

TEST(RandomSampler, AnEpochDependsOnTheSumOfSeedAndEpochAlone) {
  EXPECT_EQ(RandomSampler(37, 1).order(2), RandomSampler(37, 3).order(0));
  EXPECT_EQ(RandomSampler(37, ~std::uint64_t{0}).order(2), RandomSampler(37, 1).order(0));
}

TEST(SequentialSampler, KeepsFileOrderInEveryEpoch) {
  const SequentialSampler sampler(4);
  EXPECT_THAT(sampler.order(0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(sampler.order(7), sampler.order(0));
  EXPECT_TRUE(SequentialSampler(0).order(0).empty());
}

TEST(LengthGroupedOrder, IsTheTrainersRuleOnTenRows) {
  EXPECT_THAT(length_grouped_order(kLengths10, 2, 42), ElementsAre(3, 2, 1, 8, 4, 5, 9, 0, 6, 7));
  EXPECT_THAT(length_grouped_order(kLengths10, 4, 42), ElementsAre(3, 8, 6, 2, 9, 4, 5, 0, 1, 7));
  EXPECT_THAT(length_grouped_order(kLengths10, 4, 43), ElementsAre(3, 4, 8, 0, 7, 1, 5, 6, 9, 2));
  EXPECT_THAT(length_grouped_order(kLengths10, 4, 1), ElementsAre(3, 5, 6, 2, 1, 9, 8, 0, 7, 4));
  EXPECT_THAT(length_grouped_order(kLengths10, 8, 42), ElementsAre(3, 9, 4, 5, 8, 0, 6, 2, 1, 7));
  EXPECT_THAT(length_grouped_order(kLengths10, 8, 43), ElementsAre(3, 1, 9, 4, 5, 8, 0, 6, 7, 2));
}

TEST(LengthGroupedOrder, IsTheTrainersRuleWhereARunHoldsSeveralBatches) {
  const Order seed42 = {12, 21, 28, 10, 15, 13, 24, 0,  18, 20, 2,  22, 30, 23, 31, 3, 35, 32, 25,
                        6,  4,  14, 26, 36, 7,  8,  19, 27, 16, 17, 29, 11, 34, 5,  1, 9,  33};
  const Order seed1 = {21, 30, 6, 24, 14, 27, 29, 11, 18, 28, 1,  15, 13, 0,  36, 33, 35, 32, 7,
                       22, 19, 4, 26, 9,  12, 25, 5,  10, 8,  20, 23, 16, 34, 2,  31, 17, 3};
  EXPECT_EQ(length_grouped_order(kLengths37, 4, 42), seed42);
  EXPECT_EQ(length_grouped_order(kLengths37, 8, 42), seed42);
  EXPECT_EQ(length_grouped_order(kLengths37, 4, 1), seed1);
}

TEST(LengthGroupedOrder, EqualLengthsKeepTheRandomOrder) {
  EXPECT_EQ(length_grouped_order(Order(10, 7), 4, 42), RandomSampler(10, 42).order(0));
}

TEST(LengthGroupedOrder, VisitsEveryRowOnceAndTheLongestFirst) {
  Order lengths(1000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::int64_t>((i * 37) % 101);
  Order order = length_grouped_order(lengths, 3, 5);
  EXPECT_EQ(lengths[static_cast<std::size_t>(order.front())], 100);
  std::sort(order.begin(), order.end());
  Order all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
  EXPECT_TRUE(length_grouped_order({}, 4, 1).empty());
}

TEST(LengthGroupedSampler, UsesSeedPlusEpoch) {
  const LengthGroupedSampler sampler(kLengths10, 4, 42);
  EXPECT_EQ(sampler.order(0), length_grouped_order(kLengths10, 4, 42));
  EXPECT_EQ(sampler.order(1), length_grouped_order(kLengths10, 4, 43));
  EXPECT_EQ(sampler.size(), 10);
}

}  // namespace
}  // namespace ranktune::sampling
