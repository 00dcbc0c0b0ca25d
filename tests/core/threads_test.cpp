#include "ranktune/core/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace ranktune::core {
namespace {

TEST(RunInThreads, CallsEachOnceAndWaitsForAll) {
  std::vector<int> calls(7);
  run_in_threads(calls.size(), [&](std::size_t i) { calls[i] += static_cast<int>(i) + 1; });
  EXPECT_EQ(calls, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
  run_in_threads(0, [](std::size_t) { FAIL(); });
}

TEST(RunInThreads, ThrowsWhatTheFirstThrewAfterAllHaveEnded) {
  std::atomic<int> ended = 0;
  std::string message;
  try {
    run_in_threads(4, [&](std::size_t i) {
      ++ended;
      if (i >= 2) throw std::runtime_error("part " + std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "part 2");
  EXPECT_EQ(ended, 4);
}

}  // namespace
}  // namespace ranktune::core
