#include "ranktune/train/schedule.h"

#include <gtest/gtest.h>

namespace ranktune::train {
namespace {

// All figures were printed by the Trainer of transformers 5.24.

TEST(CountWarmupUpdates, TakesStepsOrASharesOfAllUpdates) {
  EXPECT_EQ(count_warmup_updates(2.7, 0, 6), 2);
  EXPECT_EQ(count_warmup_updates(1, 0, 6), 1);
  EXPECT_EQ(count_warmup_updates(0.1, 0, 6), 1);
  EXPECT_EQ(count_warmup_updates(0.34, 0, 6), 3);
  EXPECT_EQ(count_warmup_updates(0.5, 0, 6), 3);
  EXPECT_EQ(count_warmup_updates(0, 0, 6), 0);
}

TEST(CountWarmupUpdates, KeepsTheRoundingOfDoubles) {
  EXPECT_EQ(count_warmup_updates(0.07, 0, 100), 8);
  EXPECT_EQ(count_warmup_updates(0.06, 0, 100), 6);
  EXPECT_EQ(count_warmup_updates(0.1, 0, 70), 7);
}

TEST(CountWarmupUpdates, UsesTheRatioOnlyWithoutSteps) {
  EXPECT_EQ(count_warmup_updates(0, 0.1, 25), 3);
  EXPECT_EQ(count_warmup_updates(0, 0.07, 100), 8);
  EXPECT_EQ(count_warmup_updates(4, 0.1, 100), 4);
  EXPECT_EQ(count_warmup_updates(0.5, 0.1, 100), 50);
}

std::vector<double> rates(SchedulerType type, double base, std::int64_t warmup, std::int64_t total) {
  std::vector<double> all;
  for (std::int64_t finished = 0; finished < total; ++finished)
    all.push_back(base * learning_rate_multiplier(
                             {.type = type, .warmup_updates = warmup, .total_updates = total}, finished));
  return all;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-16) << i;
}

TEST(LearningRateMultiplier, FallsLinearlyToTheEnd) {
  expect_near(rates(SchedulerType::linear, 1e-3, 0, 5), {0.001, 0.0008, 0.0006, 0.0004, 0.0002});
  EXPECT_EQ(learning_rate_multiplier({.total_updates = 5}, 5), 0.0);
  EXPECT_EQ(learning_rate_multiplier({.total_updates = 5}, 9), 0.0);
}

TEST(LearningRateMultiplier, RisesFromZeroOverTheWarmup) {
  expect_near(rates(SchedulerType::linear, 1e-3, 3, 6), {0, 1e-3 / 3, 2e-3 / 3, 0.001, 2e-3 / 3, 1e-3 / 3});
  expect_near(rates(SchedulerType::linear, 5e-5, 1, 6), {0, 5e-5, 4e-5, 3e-5, 2e-5, 1e-5});
  expect_near(rates(SchedulerType::linear, 1.0, 10, 2), {0, 0.1});  // stops before the warm-up ends
  EXPECT_EQ(learning_rate_multiplier({.warmup_updates = 4, .total_updates = 4}, 4), 0.0);
}

TEST(LearningRateMultiplier, ConstantIgnoresTheWarmup) {
  expect_near(rates(SchedulerType::constant, 1e-3, 2, 3), {1e-3, 1e-3, 1e-3});
}

TEST(IntervalUpdates, TakesUpdatesOrAShareOfAllRoundedUp) {
  EXPECT_EQ(interval_updates(500, 9), 500);
  EXPECT_EQ(interval_updates(1, 9), 1);
  EXPECT_EQ(interval_updates(0.25, 9), 3);
  EXPECT_EQ(interval_updates(0.07, 100), 8);
}

}  // namespace
}  // namespace ranktune::train
