#include "ranktune/sampling/step_plan.h"

#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "ranktune/core/error.h"

namespace ranktune::sampling {
namespace {

BatchShape shape(std::int64_t b, std::int64_t ranks, std::int64_t accumulation, bool drop_last = false) {
  return {b, ranks, accumulation, drop_last};
}

TEST(DealBatches, OneRankTakesConsecutiveBatchesAndTheLastIsShort) {
  const std::vector<Update> updates = deal_batches(10, shape(4, 1, 1), 0);
  EXPECT_EQ(updates, (std::vector<Update>{{4, {{0, 4, 0}}}, {4, {{4, 8, 0}}}, {2, {{8, 10, 0}}}}));
}

TEST(DealBatches, AnUpdateNeverCrossesTheEndOfAnEpoch) {
  const std::vector<Update> updates = deal_batches(10, shape(4, 1, 2), 0);
  EXPECT_EQ(updates, (std::vector<Update>{{8, {{0, 4, 0}, {4, 8, 4}}}, {2, {{8, 10, 0}}}}));
}

TEST(DealBatches, RanksTakeWholeBatchesInTurnAndARankWithoutRowsGetsAnEmptyOne) {
  EXPECT_EQ(deal_batches(9, shape(2, 2, 1), 0),
            (std::vector<Update>{{4, {{0, 2, 0}}}, {4, {{4, 6, 0}}}, {1, {{8, 9, 0}}}}));
  EXPECT_EQ(deal_batches(9, shape(2, 2, 1), 1),
            (std::vector<Update>{{4, {{2, 4, 2}}}, {4, {{6, 8, 2}}}, {1, {{9, 9, 2}}}}));
  EXPECT_EQ(deal_batches(3, shape(2, 4, 1), 3), (std::vector<Update>{{3, {{3, 3, 6}}}}));
}

TEST(DealBatches, DropLastLeavesOutWhatDoesNotFillABatchOnEveryRank) {
  EXPECT_EQ(deal_batches(11, shape(2, 2, 2, true), 0), (std::vector<Update>{{8, {{0, 2, 0}, {4, 6, 4}}}}));
  EXPECT_EQ(deal_batches(11, shape(2, 2, 2, true), 1), (std::vector<Update>{{8, {{2, 4, 2}, {6, 8, 6}}}}));
  EXPECT_TRUE(deal_batches(3, shape(4, 1, 1, true), 0).empty());
  EXPECT_TRUE(deal_batches(0, shape(4, 2, 1), 1).empty());
}

TEST(DealShares, GivesEachRankItsOwnRowsAndAPlaceInTheUpdateThatNoOtherHas) {
  EXPECT_EQ(deal_shares(5, shape(2, 2, 2), 0),
            (std::vector<Update>{{8, {{0, 2, 0}, {2, 4, 4}}}, {2, {{4, 5, 0}}}}));
  EXPECT_EQ(deal_shares(5, shape(2, 2, 2), 1),
            (std::vector<Update>{{8, {{0, 2, 2}, {2, 4, 6}}}, {2, {{4, 5, 2}}}}));
  EXPECT_EQ(deal_shares(5, shape(2, 2, 2, true), 1), (std::vector<Update>{{8, {{0, 2, 2}, {2, 4, 6}}}}));
}

TEST(DealBatches, EveryRowIsTakenOnceWithItsPlaceInTheUpdateForAnyShape) {
  for (const auto& [rows, b, ranks, accumulation] : std::vector<std::tuple<int, int, int, int>>{
           {37, 4, 2, 3}, {1, 4, 4, 2}, {64, 8, 2, 2}, {29, 3, 4, 1}, {8, 1, 3, 5}}) {
    std::vector<std::set<std::int64_t>> places;  // by update
    std::vector<std::int64_t> totals;
    std::int64_t taken = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<Update> updates = deal_batches(rows, shape(b, ranks, accumulation), rank);
      places.resize(updates.size());
      totals.resize(updates.size());
      std::int64_t update_begin = 0;
      for (std::size_t u = 0; u < updates.size(); ++u) {
        EXPECT_LE(updates[u].micro_batches.size(), static_cast<std::size_t>(accumulation));
        EXPECT_EQ(rank == 0 ? updates[u].rows : totals[u], updates[u].rows);
        totals[u] = updates[u].rows;
        for (const MicroBatch& micro : updates[u].micro_batches) {
          taken += micro.end - micro.begin;
          EXPECT_TRUE(micro.begin == micro.end || micro.first_row == micro.begin - update_begin);
          for (std::int64_t i = micro.begin; i < micro.end; ++i)
            EXPECT_TRUE(places[u].insert(micro.first_row + i - micro.begin).second);
        }
        update_begin += updates[u].rows;
      }
      EXPECT_EQ(update_begin, rows);
    }
    EXPECT_EQ(taken, rows);
    for (std::size_t u = 0; u < places.size(); ++u) {
      EXPECT_EQ(static_cast<std::int64_t>(places[u].size()), totals[u]);
      EXPECT_EQ(*places[u].rbegin(), totals[u] - 1);
    }
  }
}

TEST(DealBatches, TheSameProductPutsTheSameRowsIntoEachUpdate) {
  const auto rows_of_updates = [](const BatchShape& split) {
    std::vector<std::set<std::int64_t>> rows;
    for (std::int64_t rank = 0; rank < split.ranks; ++rank) {
      const std::vector<Update> updates = deal_batches(70, split, rank);
      rows.resize(updates.size());
      for (std::size_t u = 0; u < updates.size(); ++u)
        for (const MicroBatch& micro : updates[u].micro_batches)
          for (std::int64_t i = micro.begin; i < micro.end; ++i) rows[u].insert(i);
    }
    return rows;
  };
  const auto reference = rows_of_updates(shape(32, 1, 1));
  ASSERT_EQ(reference.size(), 3U);
  EXPECT_EQ(reference[2].size(), 6U);
  for (const BatchShape& split : {shape(8, 1, 4), shape(8, 2, 2), shape(4, 4, 2), shape(16, 2, 1)})
    EXPECT_EQ(rows_of_updates(split), reference);
}

// Printed by the Trainer of transformers 5.24.
TEST(PlanSteps, CountsUpdatesAndEpochsAsTheTrainer) {
  const auto total = [](double epochs, std::int64_t accumulation) {
    return plan_steps(10, shape(4, 1, accumulation), {epochs, -1}).total_updates;
  };
  EXPECT_EQ(total(1.5, 1), 5);
  EXPECT_EQ(total(0.3, 1), 1);
  EXPECT_EQ(total(1.5, 2), 3);
  EXPECT_EQ(total(2, 2), 4);
  EXPECT_EQ(total(2.1, 3), 3);
  EXPECT_EQ(total(1, 5), 1);
  EXPECT_EQ(plan_steps(10, shape(4, 1, 2), {3, 4}), (StepPlan{3, 2, 4, 2}));
  EXPECT_EQ(plan_steps(10, shape(4, 1, 1), {3, 7}), (StepPlan{3, 3, 7, 3}));
  EXPECT_EQ(plan_steps(10, shape(4, 1, 1), {1.5, -1}), (StepPlan{3, 3, 5, 2}));
}

TEST(PlanSteps, KeepsTheRoundingOfDoubles) {
  // 0.07 * 100 is 7.000000000000001 in doubles, so an eighth update is made.
  EXPECT_EQ(plan_steps(400, shape(4, 1, 1), {0.07, -1}).total_updates, 8);
  EXPECT_EQ(plan_steps(400, shape(4, 1, 1), {0.06, -1}).total_updates, 6);
}

TEST(PlanSteps, SharesBatchesAmongRanks) {
  EXPECT_EQ(plan_steps(11, shape(2, 4, 1), {1, -1}), (StepPlan{2, 2, 2, 1}));
  EXPECT_EQ(plan_steps(11, shape(2, 4, 1, true), {1, -1}), (StepPlan{1, 1, 1, 1}));
}

TEST(PlanSteps, AgreesWithTheBatchesThatAreDealt) {
  for (std::int64_t rows = 8; rows < 60; ++rows)
    for (const bool drop_last : {false, true}) {
      const BatchShape split = shape(3, 2, 4, drop_last);
      const std::vector<Update> updates = deal_batches(rows, split, 1);
      std::size_t micro_batches = 0;
      for (const Update& update : updates) micro_batches += update.micro_batches.size();
      const StepPlan plan = plan_steps(rows, split, {1, -1});
      EXPECT_EQ(plan.updates_per_epoch, static_cast<std::int64_t>(updates.size()));
      EXPECT_EQ(plan.micro_batches_per_epoch, static_cast<std::int64_t>(micro_batches));
    }
}

TEST(PlanSteps, RefusesARunWithoutABatch) {
  EXPECT_THROW(plan_steps(3, shape(4, 1, 1, true), {1, -1}), UsageError);
}

}  // namespace
}  // namespace ranktune::sampling
