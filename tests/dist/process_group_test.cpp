#include "ranktune/dist/process_group.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "ranktune/core/error.h"
#include "ranktune/dist/handshake.h"
#include "ranktune/dist/store.h"
#include "support/ranks.h"

namespace ranktune::dist {
namespace {

using launch::LaunchEnv;
using tests::RankResult;
using tests::run_ranks;

GroupOptions short_options(int milliseconds = 3000) {
  GroupOptions options;
  options.timeout = std::chrono::milliseconds(milliseconds);
  return options;
}

void expect_part(const RankResult& result, const std::string& part) {
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 1) << result.text;
  EXPECT_NE(result.text.find(part), std::string::npos) << "wanted: " << part << "\nfound: " << result.text;
}

TEST(ProcessGroup, KnowsItsMembers) {
  const auto results = run_ranks(3, [](const LaunchEnv& env) {
    const auto group = init_process_group(env, short_options(10000));
    group->barrier();
    std::string text = std::to_string(group->rank()) + " of " + std::to_string(group->world_size()) + ":";
    for (const Member& member : group->members()) text += " " + std::to_string(member.local_rank);
    group->barrier();
    return text;
  });
  for (int rank = 0; rank < 3; ++rank) {
    const RankResult& result = results[static_cast<std::size_t>(rank)];
    EXPECT_EQ(result.text, std::to_string(rank) + " of 3: 0 1 2");
    EXPECT_EQ(result.exit_code, 0);
  }
}

TEST(ProcessGroup, HandsTensorsOfGpusToGlooToo) {
  const auto results = run_ranks(1, [](const LaunchEnv& env) {
    const auto group = init_process_group(env, short_options());
    return group->c10d_group()->getBackend(c10::DeviceType::CUDA)->getBackendName() + " and " +
           group->c10d_group()->getBackend(c10::DeviceType::CPU)->getBackendName();
  });
  EXPECT_EQ(results[0].text, "gloo and gloo");
}

TEST(ProcessGroup, OutlivesAConnectionThatBreaksWhileItWrites) {
  const auto results = run_ranks(2, [](const LaunchEnv& env) {
    const auto group = init_process_group(env, short_options());
    ::raise(SIGPIPE);
    group->barrier();
    return "went on";
  });
  for (const RankResult& result : results) EXPECT_EQ(result.text, "went on");
}

TEST(ProcessGroup, LeavesTheProgramItsOwnHandlerOfBrokenPipes) {
  const auto results = run_ranks(2, [](const LaunchEnv& env) {
    static volatile std::sig_atomic_t seen = 0;
    std::signal(SIGPIPE, [](int) { seen = 1; });
    const auto group = init_process_group(env, short_options());
    ::raise(SIGPIPE);
    return seen == 1 ? "handled" : "lost";
  });
  for (const RankResult& result : results) EXPECT_EQ(result.text, "handled");
}

TEST(ProcessGroup, NamesTheRankThatNeverComes) {
  const auto results = run_ranks(3, [](const LaunchEnv& env) {
    if (env.rank == 1) return std::string("stays away");
    init_process_group(env, short_options(1500));
    return std::string("met");
  });
  for (const std::size_t rank : {0, 2}) expect_part(results[rank], "rank 1 of 3 did not come to 127.0.0.1:");
}

TEST(ProcessGroup, RefusesARankThatComesTwice) {
  const auto results = run_ranks(
      3, [](const LaunchEnv& env) { return init_process_group(env, short_options(1500)) ? "met" : ""; },
      {.adjust = [](LaunchEnv& env) {
        if (env.rank == 2) env.rank = 1;
      }});
  int refused = 0, waited = 0;
  for (const RankResult& result : results) {
    refused +=
        result.text.find("another process has come as rank 1 before: rank 1 (process ") != std::string::npos
            ? 1
            : 0;
    waited += result.text.find("rank 2 of 3 did not come") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(waited, 2);
}

TEST(ProcessGroup, TellsJobsOfDifferentSizesApart) {
  const auto results =
      run_ranks(2, [](const LaunchEnv& env) { return init_process_group(env, short_options()) ? "met" : ""; },
                {.adjust = [](LaunchEnv& env) { env.world_size = env.rank == 0 ? 2 : 3; }});
  expect_part(results[0], "has world_size 3, this rank has 2: do two jobs use 127.0.0.1:");
  expect_part(results[1], "has world_size 2, this rank has 3");
}

TEST(ProcessGroup, TellsTwoJobsOnOnePortApart) {
  const auto results =
      run_ranks(2, [](const LaunchEnv& env) { return init_process_group(env, short_options()) ? "met" : ""; },
                {.adjust = [](LaunchEnv& env) { env.run_id = "job" + std::to_string(env.rank); }});
  expect_part(results[0], "has run_id \"job1\", this rank has \"job0\"");
}

TEST(ProcessGroup, NamesTheRankThatDoesNotReachABarrier) {
  const auto results = run_ranks(3,
                                 [](const LaunchEnv& env) {
                                   const auto group = init_process_group(env, short_options(1500));
                                   if (env.rank == 2) ::raise(SIGSTOP);  // the harness ends it
                                   group->barrier();
                                   return std::string("passed");
                                 },
                                 {.seconds = 5});
  for (const std::size_t rank : {0, 1}) expect_part(results[rank], "barrier failed after");
  for (const std::size_t rank : {0, 1}) expect_part(results[rank], "rank 2 did not come");
  EXPECT_TRUE(results[2].timed_out);
}

TEST(ProcessGroup, EndsABarrierAlsoWhereTheStoreIsSilent) {
  const auto results = run_ranks(2,
                                 [](const LaunchEnv& env) {
                                   const auto group = init_process_group(env, short_options(1500));
                                   group->barrier();  // both have connected
                                   if (env.rank == 0) ::raise(SIGSTOP);
                                   group->barrier();
                                   return std::string("passed");
                                 },
                                 {.seconds = 6});
  expect_part(results[1], "barrier failed after");
  expect_part(results[1], "the store of rank 0 does not answer");
}

/// What rank 1 says where rank 0, which holds the store, stops: when rank 1 has come, or when it has gone on
/// from their meeting to say where its back end listens.
RankResult meet_a_rank_that_stops(bool after_meeting) {
  const auto results = run_ranks(2,
                                 [&](const LaunchEnv& env) {
                                   const GroupOptions options = short_options(1000);
                                   if (env.rank == 1) return init_process_group(env, options) ? "met" : "";
                                   const auto store = open_store(env, options.timeout);
                                   if (after_meeting) {
                                     constexpr std::int64_t kKeysOfTheMeeting = 4;
                                     shake_hands(env, store, options.timeout);
                                     while (store->getNumKeys() <= kKeysOfTheMeeting)
                                       std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                   } else {
                                     store->wait({"ranktune/0/member/1"});
                                   }
                                   ::raise(SIGSTOP);  // the harness ends it
                                   return "went on";
                                 },
                                 {.seconds = 8});
  return results[1];
}

TEST(ProcessGroup, EndsWhereTheStoreFallsSilentWhileRanksMeet) {
  const RankResult result = meet_a_rank_that_stops(/*after_meeting=*/false);
  expect_part(result, "meeting the other ranks failed after");
  expect_part(result, "has stopped answering: is rank 0, which holds it, stopped, or out of reach?");
}

TEST(ProcessGroup, EndsWhereTheStoreFallsSilentWhileRanksConnect) {
  const RankResult result = meet_a_rank_that_stops(/*after_meeting=*/true);
  expect_part(result, "connecting to the other ranks failed after");
  expect_part(result, "has stopped answering: is rank 0, which holds it, stopped, or out of reach?");
}

TEST(ProcessGroup, SaysThatThePortIsTaken) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(socket, generic, size), 0);
  ASSERT_EQ(::getsockname(socket, generic, &size), 0);
  ASSERT_EQ(::listen(socket, 4), 0);
  const auto results = run_ranks(
      2, [](const LaunchEnv& env) { return init_process_group(env, short_options(1500)) ? "met" : ""; },
      {.adjust = [&](LaunchEnv& env) { env.master_port = ntohs(address.sin_port); }});
  expect_part(results[0], "the store cannot listen on port " + std::to_string(ntohs(address.sin_port)));
  expect_part(results[1], "no store answers at 127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  ::close(socket);
}

TEST(ProcessGroup, SaysThatTheMastersNameIsUnknown) {
  const auto results = run_ranks(
      2, [](const LaunchEnv& env) { return init_process_group(env, short_options(1500)) ? "met" : ""; },
      {.adjust = [](LaunchEnv& env) { env.master_addr = "no-such-host.invalid"; }});
  expect_part(results[1], "no store answers at no-such-host.invalid:");
}

TEST(ProcessGroup, RefusesABackendThatLibTorchLacks) {
  const auto results = run_ranks(1, [](const LaunchEnv& env) {
    GroupOptions options = short_options();
    options.backend = "smoke signals";
    return init_process_group(env, options) ? "met" : "";
  });
  expect_part(results[0], "--ddp_backend smoke signals: this LibTorch has gloo");
}

}  // namespace
}  // namespace ranktune::dist
