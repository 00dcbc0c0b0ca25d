#include "ranktune/dist/collectives.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <csignal>

#include "ranktune/dist/gradient_reducer.h"
#include "support/ranks.h"

namespace ranktune::dist {
namespace {

using launch::LaunchEnv;
using tests::RankResult;
using tests::run_ranks;

std::string numbers(const at::Tensor& tensor) {
  std::string text;
  const at::Tensor flat = tensor.to(at::kDouble).flatten();
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    text += (i > 0 ? " " : "") + std::to_string(flat[i].item<double>()).substr(0, 4);
  return text;
}

void expect_all(const std::vector<tests::RankResult>& results, const std::string& text) {
  for (const auto& result : results) {
    EXPECT_EQ(result.text, text);
    EXPECT_EQ(result.exit_code, 0);
  }
}

TEST(Collectives, AddAndAverage) {
  expect_all(run_ranks(3,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         at::Tensor sum = at::full({2}, static_cast<double>(env.rank + 1)),
                                    mean = sum.clone();
                         all_reduce_sum(*group, sum);
                         all_reduce_mean(*group, mean);
                         return numbers(sum) + " | " + numbers(mean);
                       }),
             "6.00 6.00 | 2.00 2.00");
}

TEST(Collectives, GatherTensorsOfUnequalLengths) {
  expect_all(
      run_ranks(3,
                [](const LaunchEnv& env) {
                  const auto group = init_process_group(env, {});
                  const at::Tensor own = at::full({(env.rank + 2) % 3, 2}, static_cast<double>(env.rank));
                  std::string text;
                  for (const at::Tensor& part : all_gather(*group, own)) text += "[" + numbers(part) + "]";
                  for (const at::Tensor& part : all_gather(*group, at::empty({0, 4})))
                    text += std::to_string(part.size(0)) + "x" + std::to_string(part.size(1));
                  return text;
                }),
      "[0.00 0.00 0.00 0.00][][2.00 2.00]0x40x40x4");
}

TEST(Collectives, GatherAndBroadcastTexts) {
  expect_all(run_ranks(3,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         std::string text;
                         for (const std::string& part :
                              all_gather(*group, std::string(static_cast<std::size_t>(env.rank), 'x')))
                           text += "<" + part + ">";
                         return text + broadcast_object(*group, "from " + std::to_string(env.rank), 2) +
                                broadcast_object(*group, "");
                       }),
             "<><x><xx>from 2");
}

TEST(Collectives, WeighUnequalBatches) {
  const auto results = run_ranks(3, [](const LaunchEnv& env) {
    const auto group = init_process_group(env, {});
    return std::to_string(loss_scale(*group, 2 * env.rank));
  });
  EXPECT_EQ(results[0].text, "0.000000");
  EXPECT_EQ(results[1].text, "1.000000");
  EXPECT_EQ(results[2].text, "2.000000");
}

TEST(Collectives, EndWhenARankIsKilled) {
  const auto results = run_ranks(2,
                                 [](const LaunchEnv& env) {
                                   const auto group = init_process_group(env, {});
                                   at::Tensor tensor = at::ones({4});
                                   all_reduce_sum(*group, tensor);
                                   if (env.rank == 1) ::raise(SIGKILL);
                                   all_reduce_sum(*group, tensor);
                                   return std::string("went on");
                                 },
                                 {.seconds = 15});
  EXPECT_EQ(results[1].signal, SIGKILL);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_NE(results[0].text.find("rank 0: all-reduce failed after"), std::string::npos) << results[0].text;
}

std::vector<RankResult> run_two_with_one_stopped(std::int64_t stopped) {
  return run_ranks(2,
                   [stopped](const LaunchEnv& env) {
                     GroupOptions options;
                     options.timeout = std::chrono::milliseconds(1500);
                     const auto group = init_process_group(env, options);
                     at::Tensor tensor = at::ones({4});
                     all_reduce_sum(*group, tensor);  // both have connected
                     if (env.rank == stopped) ::raise(SIGSTOP);
                     all_reduce_sum(*group, tensor);
                     return std::string("went on");
                   },
                   {.seconds = 5});
}

/// Rank 0 holds the store: the one that goes on cannot ask it, and has to end all the same.
TEST(Collectives, EndWhenARankIsStopped) {
  for (const std::int64_t stopped : {1, 0}) {
    const auto results = run_two_with_one_stopped(stopped);
    const std::int64_t other = 1 - stopped;
    const RankResult& result = results[static_cast<std::size_t>(other)];
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_FALSE(result.timed_out);
    EXPECT_NE(result.text.find("rank " + std::to_string(other) + ": all-reduce failed after"),
              std::string::npos)
        << result.text;
  }
}

}  // namespace
}  // namespace ranktune::dist
