#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "ranktune/launch/launcher.h"
#include "support/error_text.h"

namespace ranktune::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using tests::error_text;

HostFacts host(std::int64_t cores = 8, std::int64_t gpus = 0, const NodeEnv& node = {}) {
  return {.name = "here",
          .cores = cores,
          .fresh_id = "fresh",
          .count_gpus = [gpus] { return gpus; },
          .node = [node] { return node; }};
}

LaunchPlan plan(LaunchOptions options, const Variables& variables = {}, const HostFacts& facts = host()) {
  if (options.command.empty()) options.command = {"prog"};
  return plan_launch(options, variables, facts);
}

std::string refusal(const LaunchOptions& options, const Variables& variables = {},
                    const HostFacts& facts = host()) {
  return error_text<UsageError>([&] { plan(options, variables, facts); });
}

TEST(LaunchPlan, IsOneRankOnOneMachineByDefault) {
  const LaunchPlan one = plan({});
  EXPECT_EQ(one.local_world_size, 1);
  EXPECT_EQ(one.world_size(), 1);
  EXPECT_EQ(one.master_addr, "127.0.0.1");
  EXPECT_EQ(one.master_port, 0);
  EXPECT_EQ(one.run_id, "fresh");
  EXPECT_EQ(one.host, "here");
  EXPECT_EQ(one.threads_per_worker, 8);
  EXPECT_THAT(one.command, ElementsAre("prog"));
  EXPECT_THAT(one.notes, IsEmpty());
}

TEST(LaunchPlan, CountsRanksByGpusAndCores) {
  const auto ranks = [](const std::string& text, std::int64_t gpus) {
    return plan({.nproc_per_node = text}, {}, host(8, gpus)).local_world_size;
  };
  EXPECT_EQ(ranks("3", 2), 3);
  EXPECT_EQ(ranks("gpu", 2), 2);
  EXPECT_EQ(ranks("auto", 2), 2);
  EXPECT_EQ(ranks("auto", 0), 8);
  EXPECT_EQ(ranks("cpu", 2), 8);
  EXPECT_EQ(refusal({.nproc_per_node = "gpu"}),
            "--nproc_per_node gpu: no GPU is visible here; give a number, or cpu for one rank per core");
  for (const char* wrong : {"0", "-1", "two", "2x", "5000", "1.5"})
    EXPECT_THAT(refusal({.nproc_per_node = wrong}),
                StartsWith(std::string("--nproc_per_node ") + wrong + ": "));
}

TEST(LaunchPlan, SharesTheCoresAmongTheRanks) {
  EXPECT_EQ(plan({.nproc_per_node = "3"}).threads_per_worker, 2);
  EXPECT_EQ(plan({.nproc_per_node = "9"}).threads_per_worker, 1);
}

TEST(LaunchPlan, StartsPythonForPythonPrograms) {
  EXPECT_THAT(plan({.command = {"train.py", "-x"}}).command, ElementsAre("python3", "-u", "train.py", "-x"));
  EXPECT_THAT(plan({.command = {"train.py"}}, {{"PYTHON_EXEC", "pypy"}}).command,
              ElementsAre("pypy", "-u", "train.py"));
  EXPECT_THAT(plan({.no_python = true, .command = {"./train.py"}}).command, ElementsAre("./train.py"));
  EXPECT_THAT(plan({.module = true, .command = {"pkg.train", "-x"}}).command,
              ElementsAre("python3", "-u", "-m", "pkg.train", "-x"));
  EXPECT_THAT(refusal({.module = true, .no_python = true}), StartsWith("--module needs the interpreter"));
  EXPECT_EQ(error_text<UsageError>([] { plan_launch({}, {}, host()); }),
            "no program to start: ranktune launch [flags] PROGRAM [ARGUMENTS]");
}

TEST(LaunchPlan, KnowsItsPlaceAmongTheMachines) {
  const LaunchPlan second =
      plan({.nproc_per_node = "4", .nnodes = "3", .node_rank = 1, .master_addr = "head"});
  EXPECT_EQ(second.world_size(), 12);
  EXPECT_EQ(second.rank(2), 6);
  EXPECT_EQ(second.master_addr, "head");
  EXPECT_EQ(second.master_port, 29500);
  EXPECT_EQ(second.run_id, "none");
}

TEST(LaunchPlan, NeedsToBeToldWhereTheMachinesMeet) {
  EXPECT_EQ(refusal({.nnodes = "2", .master_addr = "head"}),
            "--nnodes 2 needs --node_rank: 0 on the machine of --master_addr, 1 on the next");
  EXPECT_EQ(refusal({.nnodes = "2", .rdzv_backend = "c10d", .rdzv_endpoint = "head:29400"}),
            "--nnodes 2 needs --node_rank: 0 on the machine of --master_addr, 1 on the next (--rdzv_backend "
            "c10d does "
            "not number machines here)");
  EXPECT_EQ(refusal({.nnodes = "2", .node_rank = 0}),
            "--nnodes 2 needs --master_addr: the name or address of the machine with --node_rank 0");
  EXPECT_EQ(refusal({.nnodes = "2", .node_rank = 2, .master_addr = "head"}),
            "--node_rank 2: with --nnodes 2 it must be 0 to 1");
  EXPECT_THAT(refusal({.nnodes = "1:4"}), StartsWith("--nnodes 1:4: the number of machines is fixed here"));
  EXPECT_EQ(plan({.nnodes = "1:1"}).nodes, 1);
  for (const char* wrong : {"0", "x", "1:2:3", ":", ""})
    EXPECT_THAT(refusal({.nnodes = wrong}), HasSubstr("it must be a number of machines, or auto")) << wrong;
}

TEST(LaunchPlan, ReadsAnEndpoint) {
  const auto master = [](const std::string& endpoint) {
    const LaunchPlan two = plan({.nnodes = "2", .node_rank = 0, .rdzv_endpoint = endpoint});
    return two.master_addr + " " + std::to_string(two.master_port);
  };
  EXPECT_EQ(master("head"), "head 29500");
  EXPECT_EQ(master("head:1234"), "head 1234");
  EXPECT_EQ(master("[fe80::1]:1234"), "fe80::1 1234");
  EXPECT_EQ(master("[fe80::1]"), "fe80::1 29500");
  EXPECT_EQ(master("fe80::1"), "fe80::1 29500");
  for (const char* wrong : {"head:", "head:x", ":1234", "[fe80::1", "[]"})
    EXPECT_THAT(refusal({.rdzv_endpoint = wrong}), StartsWith(std::string("--rdzv_endpoint ") + wrong))
        << wrong;
  EXPECT_EQ(refusal({.master_addr = "a", .rdzv_endpoint = "b:1"}),
            "--master_addr a, but --rdzv_endpoint b:1; give one of them");
}

TEST(LaunchPlan, ChecksThePort) {
  EXPECT_EQ(refusal({.master_port = 66660}),
            "--master_port 66660: ports are 1 to 65535, and 0 for a free one");
  EXPECT_THAT(refusal({.nnodes = "2", .node_rank = 0, .master_addr = "head", .master_port = 0}),
              StartsWith("--master_port 0: all machines must know the port"));
  EXPECT_EQ(plan({.master_port = 1234}).master_port, 1234);
}

TEST(LaunchPlan, SaysInOneLineThatMachinesMeetByAddress) {
  const LaunchOptions c10d = {
      .nnodes = "2", .node_rank = 1, .rdzv_backend = "c10d", .rdzv_endpoint = "head:1", .rdzv_id = "7"};
  EXPECT_THAT(plan(c10d).notes, ElementsAre("--rdzv_backend c10d: machines meet at --master_addr by their "
                                            "--node_rank, as with static"));
  EXPECT_EQ(plan(c10d).run_id, "7");
  // The endpoint of etcd is not that of rank 0.
  EXPECT_THAT(refusal({.nnodes = "2", .node_rank = 1, .rdzv_backend = "etcd", .rdzv_endpoint = "etcd:2379"}),
              HasSubstr("needs --master_addr"));
  EXPECT_THAT(refusal({.rdzv_backend = "zookeeper"}),
              StartsWith("--rdzv_backend zookeeper: it must be static"));
  // With one machine there is nothing to say.
  EXPECT_THAT(plan({.rdzv_backend = "c10d", .rdzv_endpoint = "localhost:0"}).notes, IsEmpty());
}

TEST(LaunchPlan, WarnsOfALoopbackAddressForSeveralMachines) {
  EXPECT_THAT(
      plan({.nnodes = "2", .node_rank = 1, .master_addr = "localhost"}).notes,
      ElementsAre("--master_addr localhost with --nnodes 2 works only where all of them are started on this "
                  "machine"));
}

TEST(LaunchPlan, StandaloneIsOneMachineAndAFreePort) {
  const LaunchPlan alone = plan({.master_port = 29500, .standalone = true, .rdzv_endpoint = "head:29400"});
  EXPECT_EQ(alone.master_addr, "127.0.0.1");
  EXPECT_EQ(alone.master_port, 0);
  EXPECT_THAT(refusal({.nnodes = "2", .standalone = true}), StartsWith("--standalone is for one machine"));
}

TEST(LaunchPlan, AutoAsksThePlatform) {
  const NodeEnv pod = {.platform = "Kubeflow",
                       .node_rank = 1,
                       .nodes = 2,
                       .processes_per_node = "gpu",
                       .master_addr = "job-master",
                       .master_port = 23456};
  const LaunchPlan from_pod = plan({.nnodes = "auto"}, {}, host(8, 4, pod));
  EXPECT_EQ(from_pod.nodes, 2);
  EXPECT_EQ(from_pod.rank(0), 4);
  EXPECT_EQ(from_pod.master_addr, "job-master");
  EXPECT_EQ(from_pod.master_port, 23456);
  // What is typed counts.
  EXPECT_EQ(
      plan({.nproc_per_node = "2", .nnodes = "auto", .master_port = 1}, {}, host(8, 4, pod)).master_port, 1);
  EXPECT_EQ(plan({.nproc_per_node = "2", .nnodes = "auto"}, {}, host(8, 4, pod)).local_world_size, 2);
  EXPECT_EQ(refusal({.nnodes = "auto"}, {}, host(8, 0, {.platform = "Kubernetes", .node_rank = 1})),
            "--nnodes auto: Kubernetes does not say how many machines there are; give --nnodes N");
  const LaunchPlan nowhere = plan({.nnodes = "auto"});
  EXPECT_EQ(nowhere.nodes, 1);
  EXPECT_THAT(nowhere.notes, SizeIs(1));
}

std::string shown(const LaunchPlan& launch) {
  std::string text;
  for (const WorkerStreams& worker : launch.streams) {
    text += text.empty() ? "" : " ";
    text += worker.out_to_file ? "o" : "-";
    text += worker.err_to_file ? "e" : "-";
    text += worker.out_to_console ? "O" : "-";
    text += worker.err_to_console ? "E" : "-";
  }
  return text;
}

TEST(LaunchPlan, SendsStreamsToFilesAndConsole) {
  const auto streams = [](const std::string& redirects, const std::string& tee,
                          const std::string& filter = "") {
    return shown(
        plan({.nproc_per_node = "2", .redirects = redirects, .tee = tee, .local_ranks_filter = filter}));
  };
  EXPECT_EQ(streams("", ""), "--OE --OE");
  EXPECT_EQ(streams("3", ""), "oe-- oe--");
  EXPECT_EQ(streams("", "1"), "o-OE o-OE");
  EXPECT_EQ(streams("0:1,1:2", ""), "o--E -eO-");
  EXPECT_EQ(streams("3", "1:3"), "oe-- oeOE");
  EXPECT_EQ(streams("", "", "1"), "---- --OE");
  EXPECT_EQ(shown(plan({.nproc_per_node = "2", .log_dir = "logs"})), "oeOE oeOE");
  EXPECT_EQ(shown(plan({.nproc_per_node = "2", .log_dir = "logs", .redirects = "0:3"})), "oe-- --OE");
}

TEST(LaunchPlan, RefusesStreamsThatAreNone) {
  for (const char* wrong : {"4", "x", "2:1", "0:1,", "0:1:2", "-1", "0:4"})
    EXPECT_THAT(refusal({.nproc_per_node = "2", .redirects = wrong}),
                StartsWith(std::string("--redirects ") + wrong + ": it must be 0 (none)"))
        << wrong;
  EXPECT_EQ(refusal({.nproc_per_node = "2", .local_ranks_filter = "0,2"}),
            "--local_ranks_filter 0,2: local ranks here are 0 to 1, with commas between them");
}

TEST(LaunchPlan, TakesTheTimeToEndInFromFlagOrVariable) {
  EXPECT_EQ(plan({}).signal_grace, 30);
  EXPECT_LT(plan({}).failure_grace, 5);
  const Variables variables = {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "90"}};
  EXPECT_EQ(plan({}, variables).failure_grace, 90);
  EXPECT_EQ(plan({.shutdown_timeout = 0.5}, variables).signal_grace, 0.5);
  EXPECT_THAT(refusal({.shutdown_timeout = -1}), StartsWith("--shutdown_timeout: "));
  EXPECT_THAT(refusal({}, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "soon"}}),
              StartsWith("TORCH_ELASTIC_SHUTDOWN_TIMEOUT=soon: "));
  EXPECT_THAT(refusal({.max_restarts = -1}), StartsWith("--max_restarts -1: "));
  EXPECT_THAT(refusal({.stopped_timeout = -1}), StartsWith("--stopped_timeout: "));
}

}  // namespace
}  // namespace ranktune::launch
