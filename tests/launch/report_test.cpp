#include "ranktune/launch/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace ranktune::launch {
namespace {

using ::testing::ElementsAre;

/// A worker that ended with `exit_code` at `unix_time`, asked to by the signal `asked`.
WorkerEnd ended(std::int64_t rank, int exit_code, double unix_time, int asked = 0) {
  return {.how = {.rank = rank,
                  .local_rank = rank,
                  .pid = 100 + rank,
                  .host = "h",
                  .exit_code = exit_code,
                  .seconds = 2.04},
          .asked = asked,
          .unix_time = unix_time};
}

WorkerEnd killed(std::int64_t rank, int signal, double unix_time, int asked = 0) {
  WorkerEnd end = ended(rank, 0, unix_time, asked);
  end.how.signal = signal;
  return end;
}

std::int64_t first_rank(const std::vector<WorkerEnd>& ends) {
  const WorkerEnd* first = first_failure(ends);
  return first == nullptr ? -1 : first->how.rank;
}

TEST(FirstFailure, IsTheEarliest) {
  EXPECT_EQ(first_rank({ended(0, 1, 10.5), killed(1, SIGSEGV, 10.25), ended(2, 0, 10.0)}), 1);
  EXPECT_EQ(first_rank({ended(0, 0, 10)}), -1);
}

TEST(FirstFailure, IsNotARankThatWasAskedToEnd) {
  EXPECT_EQ(first_rank({killed(0, SIGTERM, 9, SIGTERM), ended(1, 7, 10)}), 1);
}

TEST(FirstFailure, BelievesAnErrorFileOfAnEarlierSecond) {
  // Rank 0 lost its peer; rank 1 had failed before, but hung in its last breath and had to be killed.
  std::vector<WorkerEnd> ends = {ended(0, 1, 30.5), killed(1, SIGKILL, 34.5, SIGKILL)};
  ends[1].error = ErrorRecord{"ValueError: x", 12};
  EXPECT_EQ(first_rank(ends), 1);
  ends[1].error = ErrorRecord{"DistributedError: rank 0 was lost", 30};
  EXPECT_EQ(first_rank(ends), 0);
  // Both tell their time.
  ends[0].error = ErrorRecord{"m", 29};
  EXPECT_EQ(first_rank(ends), 0);
}

TEST(FirstFailure, IsNotARankThatFailedBecauseOfAnother) {
  // Rank 1 could not read its file and told the others, who were quicker to leave.
  std::vector<WorkerEnd> ends = {ended(0, 1, 30.5), ended(1, 2, 30.75, SIGTERM), ended(2, 1, 30.5)};
  ends[1].error = ErrorRecord{"x.csv: cannot be opened", 30, 2};
  for (const std::size_t other : {0, 2})
    ends[other].error = ErrorRecord{
        .message = "rank 1 says: x.csv", .timestamp = 30, .exit_code = 1, .follows_another = true};
  EXPECT_EQ(first_rank(ends), 1);
  // Where all of them followed, it is the earliest again: the one that they followed left no word.
  ends[1].error->follows_another = true;
  EXPECT_EQ(first_rank(ends), 0);
}

TEST(FailureReport, SaysWhoHowWhenWhereAndWhy) {
  std::vector<WorkerEnd> ends = {killed(0, SIGTERM, 11, SIGTERM), ended(1, 7, 10), ended(2, 1, 11, SIGTERM),
                                 ended(3, 0, 9)};
  ends[1].how.message = "ValueError: bad\nrow";
  ends[1].how.last_lines = {"Traceback", "ValueError: bad row"};
  EXPECT_THAT(
      failure_report(ends[1].how, ends),
      ElementsAre("rank 1 failed first: exit code 7, 2.0 s after its start (host h, local rank 1, pid 101)",
                  "rank 1 says: ValueError: bad", "rank 1 says: row",
                  "the last lines of rank 1's standard error:", "  Traceback", "  ValueError: bad row",
                  "the others ended: rank 0 by SIGTERM, rank 2 with exit code 1, rank 3 with exit code 0"));
}

TEST(FailureReport, SaysOnceWhatTheRankWroteToBothPlaces) {
  std::vector<WorkerEnd> ends = {ended(0, 2, 10)};
  ends[0].how.message = "a.csv:2:1: no label";
  ends[0].how.last_lines = {"ranktune train: error: a.csv:2:1: no label"};
  EXPECT_THAT(failure_report(ends[0].how, ends),
              ElementsAre("rank 0 failed: exit code 2, 2.0 s after its start (host h, local rank 0, pid 100)",
                          "the last lines of rank 0's standard error:",
                          "  ranktune train: error: a.csv:2:1: no label"));
}

TEST(FailureReport, NamesTheSignalAndWhatItOftenMeans) {
  const std::vector<WorkerEnd> alone = {killed(0, SIGKILL, 10)};
  EXPECT_THAT(
      failure_report(alone[0].how, alone),
      ElementsAre(
          "rank 0 failed: killed by SIGKILL (not by this launcher: the system does so when memory runs "
          "out), 2.0 s after its start (host h, local rank 0, pid 100)"));
  WorkerEnd stopped = killed(0, SIGSTOP, 10);
  stopped.how.stopped = true;
  EXPECT_EQ(way_of_ending(stopped.how), "stopped by SIGSTOP");
  EXPECT_EQ(stopped.how.shell_code(), 128 + SIGSTOP);
}

TEST(FailureReport, NamesOnlyTheFirstOfManyOthers) {
  std::vector<WorkerEnd> ends;
  for (std::int64_t rank = 0; rank < 20; ++rank) ends.push_back(ended(rank, 1, static_cast<double>(rank)));
  const std::string last = failure_report(ends[0].how, ends).back();
  EXPECT_NE(last.find("rank 16 with exit code 1, and 3 more"), std::string::npos) << last;
}

}  // namespace
}  // namespace ranktune::launch
