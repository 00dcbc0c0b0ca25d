#include "cli/console.h"

#include <gtest/gtest.h>

#include <sstream>

namespace ranktune::cli {
namespace {

using train::Progress;

Progress training(std::int64_t done, std::int64_t total = 100) {
  return {.phase = Progress::Phase::train,
          .done = done,
          .total = total,
          .loss = 0.43121,
          .learning_rate = 3.2e-5,
          .rows_per_second = 412.4,
          .seconds_left = 31};
}

/// A console on a string, with a clock that the test moves.
struct Screen {
  explicit Screen(ConsoleOptions options) : console(out, options, [this] { return now; }) {}

  std::string take() {
    std::string text = out.str();
    out.str("");
    return text;
  }

  std::ostringstream out;
  double now = 1000;
  Console console;
};

TEST(ProgressLine, ShowsLossRateAndTimeLeft) {
  EXPECT_EQ(progress_line(training(35)),
            "train 35/100 steps  35%  loss 0.4312  lr 3.2e-05  412 rows/s  0:31 left");
  EXPECT_EQ(
      progress_line({.phase = Progress::Phase::evaluate, .done = 999, .total = 1000, .seconds_left = 0.2}),
      "evaluate 999/1000 rows  99%  0:00 left");
  EXPECT_EQ(progress_line({.phase = Progress::Phase::tokenize, .done = 8, .total = 8}),
            "tokenize 8/8 rows  100%");
  EXPECT_EQ(progress_line({.phase = Progress::Phase::predict}), "predict 0/0 rows  0%");
}

TEST(ClockTime, GrowsWithTheTime) {
  EXPECT_EQ(clock_time(31.4), "0:31");
  EXPECT_EQ(clock_time(725), "12:05");
  EXPECT_EQ(clock_time(59.7), "1:00");
  EXPECT_EQ(clock_time(11229), "3:07:09");
  EXPECT_EQ(clock_time(-1), "0:00");
}

TEST(ConsoleOnATerminal, RewritesItsLineTenTimesASecondAtMost) {
  Screen screen({.terminal = true});
  screen.console.progress(training(1));
  EXPECT_EQ(screen.take(), "\r" + progress_line(training(1)) + "\x1b[K");
  screen.now += 0.05;
  screen.console.progress(training(2));
  EXPECT_EQ(screen.take(), "");
  screen.now += 0.06;
  screen.console.progress(training(3));
  EXPECT_EQ(screen.take(), "\r" + progress_line(training(3)) + "\x1b[K");
}

TEST(ConsoleOnATerminal, PutsMessagesAboveTheLine) {
  Screen screen({.terminal = true});
  screen.console.info("read 12 rows");
  EXPECT_EQ(screen.take(), "read 12 rows\n");
  screen.console.progress(training(1));
  screen.take();
  screen.console.warning("one label is rare");
  EXPECT_EQ(screen.take(), "\r\x1b[Kwarning: one label is rare\n\r" + progress_line(training(1)) + "\x1b[K");
}

TEST(ConsoleOnATerminal, CutsTheLineBeforeTheLastColumn) {
  Screen screen({.terminal = true, .columns = 20});
  screen.console.progress(training(1));
  EXPECT_EQ(screen.take(), "\rtrain 1/100 steps  \x1b[K");
}

TEST(ConsoleOnATerminal, EndsALongPhaseWithItsTimeAndRemovesTheLineOfAShortOne) {
  Screen screen({.terminal = true});
  screen.console.progress(training(1));
  screen.now += 65;
  screen.console.progress(training(100));
  screen.take();
  screen.console.phase_finished(Progress::Phase::train);
  EXPECT_EQ(screen.take(),
            "\r\x1b[Ktrain 100/100 steps  100%  loss 0.4312  lr 3.2e-05  412 rows/s  in 1:05\n");
  screen.console.progress({.phase = Progress::Phase::tokenize, .done = 1, .total = 2});
  screen.take();
  screen.now += 0.2;
  screen.console.phase_finished(Progress::Phase::tokenize);
  EXPECT_EQ(screen.take(), "\r\x1b[K");
}

TEST(ConsoleOnATerminal, CountsEvaluationInsideTrainingAsTraining) {
  Screen screen({.terminal = true});
  screen.console.progress(training(1));
  screen.now += 60;
  screen.console.progress({.phase = Progress::Phase::evaluate, .done = 1, .total = 2});
  screen.now += 3;
  screen.console.phase_finished(Progress::Phase::evaluate);
  screen.take();
  screen.now += 60;
  screen.console.progress(training(100));
  screen.take();
  screen.console.phase_finished(Progress::Phase::train);
  EXPECT_NE(screen.take().find("  in 2:03\n"), std::string::npos);
}

TEST(ConsoleElsewhere, WritesPlainLinesAtIntervals) {
  Screen screen({.terminal = false});
  std::vector<double> written;
  for (int second = 0; second <= 300; ++second, screen.now += 1) {
    screen.console.progress(training(second, 300));
    const std::string text = screen.take();
    if (text.empty()) continue;
    written.push_back(second);
    EXPECT_EQ(text, progress_line(training(second, 300)) + "\n");
  }
  EXPECT_EQ(written, (std::vector<double>{30, 60, 90, 120, 150, 180, 210, 240, 270, 300}));
}

TEST(ConsoleElsewhere, NeitherFloodsAShortRunNorStaysSilentInALongOne) {
  Screen brief({.terminal = false});
  for (int i = 0; i <= 100; ++i, brief.now += 0.15) brief.console.progress(training(i));  // 15 seconds in all
  EXPECT_EQ(brief.take(), progress_line(training(67)) + "\n");
  Screen lasting({.terminal = false});
  for (int second = 0; second <= 120; ++second, lasting.now += 1)
    lasting.console.progress(training(second, 100000));
  EXPECT_EQ(lasting.take(),
            progress_line(training(60, 100000)) + "\n" + progress_line(training(120, 100000)) + "\n");
}

TEST(Console, ShowsMessagesOnlyWhenProgressIsOff) {
  Screen screen({.terminal = true, .show_progress = false});
  screen.console.progress(training(1));
  screen.now += 100;
  screen.console.phase_finished(Progress::Phase::train);
  EXPECT_EQ(screen.take(), "");
  screen.console.info("done");
  EXPECT_EQ(screen.take(), "done\n");
}

}  // namespace
}  // namespace ranktune::cli
