#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/train/loss_meter.h"
#include "ranktune/train/rhythm.h"
#include "ranktune/train/whole_folder.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> due_updates(const Rhythm& rhythm, std::int64_t total) {
  std::vector<std::int64_t> due;
  for (std::int64_t step = 1; step <= total; ++step)
    if (rhythm.due_after_update(step)) due.push_back(step);
  return due;
}

TEST(Rhythm, CountsUpdatesAndSharesOfAllUpdates) {
  using testing::ElementsAre;
  EXPECT_THAT(due_updates(Rhythm(IntervalStrategy::steps, 3, 8, false), 8), ElementsAre(3, 6));
  EXPECT_THAT(due_updates(Rhythm(IntervalStrategy::steps, 3, 8, true), 8), ElementsAre(3, 6, 8));
  EXPECT_THAT(due_updates(Rhythm(IntervalStrategy::steps, 0.25, 9, false), 9), ElementsAre(3, 6, 9));
  EXPECT_THAT(due_updates(Rhythm(IntervalStrategy::epoch, 3, 8, true), 8), ElementsAre());
  EXPECT_THAT(due_updates(Rhythm(IntervalStrategy::no, 3, 8, true), 8), ElementsAre());
}

TEST(Rhythm, FollowsEpochsOnlyWhenToldTo) {
  EXPECT_TRUE(Rhythm(IntervalStrategy::epoch, 3, 8, true).due_after_epoch());
  EXPECT_FALSE(Rhythm(IntervalStrategy::steps, 3, 8, true).due_after_epoch());
  EXPECT_FALSE(Rhythm(IntervalStrategy::no, 3, 8, true).due_after_epoch());
}

TEST(LossMeter, StartsAnewAfterEachLogAndKeepsTheTotal) {
  LossMeter meter;
  EXPECT_EQ(meter.total_mean(), 0.0);
  meter.add(1.0);
  meter.add(2.0);
  EXPECT_DOUBLE_EQ(meter.take_mean(), 1.5);
  EXPECT_EQ(meter.updates(), 0);
  meter.add(6.0);
  EXPECT_DOUBLE_EQ(meter.total_mean(), 3.0);
  EXPECT_DOUBLE_EQ(meter.take_mean(), 6.0);
  EXPECT_DOUBLE_EQ(meter.total_mean(), 3.0);
}

// The Trainer adds sum / (1 + updates since the last log) in place of a loss that is not finite.
TEST(LossMeter, ReplacesLossesThatAreNotFinite) {
  LossMeter meter;
  meter.add(std::nan(""));
  meter.add(3.0);
  meter.add(HUGE_VAL);
  EXPECT_DOUBLE_EQ(meter.take_mean(), (0.0 + 3.0 + 3.0 / 3) / 3);
}

TEST(WriteWholeFolder, ReplacesTheOldFolderAndLeavesNothingElse) {
  const tests::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "deep" / "checkpoint-3";
  for (const char* file : {"old", "new"})
    write_whole_folder(folder, [&](const fs::path& part) {
      EXPECT_NE(part, folder);
      core::write_file_atomically(part / file, "content");
    });
  EXPECT_TRUE(fs::exists(folder / "new"));
  EXPECT_FALSE(fs::exists(folder / "old"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.parent_path()), fs::directory_iterator()), 1);
}

TEST(WriteWholeFolder, KeepsTheOldFolderWhenTheNewOneFails) {
  const tests::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "checkpoint-3";
  write_whole_folder(folder, [](const fs::path& part) { core::write_file_atomically(part / "old", "1"); });
  EXPECT_EQ(tests::error_text<Error>([&] {
              write_whole_folder(folder, [](const fs::path&) { throw Error("the disk is full"); });
            }),
            "the disk is full");
  EXPECT_TRUE(fs::exists(folder / "old"));
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), fs::directory_iterator()), 1);
}

TEST(WriteWholeFolder, NamesTheFolderThatCannotBeMade) {
  const tests::TemporaryFolder temporary;
  const fs::path file = temporary.file("file", "no folder");
  const std::string message =
      tests::error_text<Error>([&] { write_whole_folder(file / "checkpoint-1", [](const fs::path&) {}); });
  EXPECT_THAT(message, testing::StartsWith((file / "checkpoint-1").string() + ": cannot be written: "));
}

}  // namespace
}  // namespace ranktune::train
