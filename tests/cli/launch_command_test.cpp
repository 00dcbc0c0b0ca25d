#include "cli/launch_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::error_text;
using Words = std::vector<std::string>;

LaunchCommand parse(const Words& words, const launch::Variables& variables = {}) {
  return parse_launch(words, variables);
}

std::string refusal(const Words& words, const launch::Variables& variables = {}) {
  return error_text<UsageError>([&] { parse(words, variables); });
}

TEST(ParseLaunch, TakesTorchrunsFlagsInBothSpellings) {
  const launch::LaunchOptions dashes =
      parse({"--nproc-per-node", "4", "--nnodes=2", "--node-rank", "1", "--master-addr", "head",
             "--master-port=1", "--max-restarts", "3", "--log-dir", "logs", "--rdzv-id=7", "prog"})
          .options;
  EXPECT_EQ(dashes.nproc_per_node, "4");
  EXPECT_EQ(dashes.nnodes, "2");
  EXPECT_EQ(dashes.node_rank, 1);
  EXPECT_EQ(dashes.master_addr, "head");
  EXPECT_EQ(dashes.master_port, 1);
  EXPECT_EQ(dashes.max_restarts, 3);
  EXPECT_EQ(dashes.log_dir, "logs");
  EXPECT_EQ(dashes.rdzv_id, "7");
  const launch::LaunchOptions underscores = parse({"--nproc_per_node=auto", "--rdzv_endpoint", "head:1",
                                                   "--rdzv_backend=c10d", "--standalone", "prog"})
                                                .options;
  EXPECT_EQ(underscores.nproc_per_node, "auto");
  EXPECT_EQ(underscores.rdzv_endpoint, "head:1");
  EXPECT_EQ(underscores.rdzv_backend, "c10d");
  EXPECT_TRUE(underscores.standalone);
}

TEST(ParseLaunch, TakesTorchrunsShortFlags) {
  const launch::LaunchOptions options = parse({"-r", "0:3", "-t", "1", "-m", "package.module", "-m"}).options;
  EXPECT_EQ(options.redirects, "0:3");
  EXPECT_EQ(options.tee, "1");
  EXPECT_TRUE(options.module);
  EXPECT_THAT(options.command, ElementsAre("package.module", "-m"));
  EXPECT_EQ(refusal({"-x", "prog"}), "unknown flag -x: flags begin with --");
}

TEST(ParseLaunch, LeavesTheWordsAfterTheProgramAlone) {
  const LaunchCommand command =
      parse({"--nproc_per_node", "2", "prog", "--nproc_per_node", "9", "--help", "--", "-h"});
  EXPECT_EQ(command.options.nproc_per_node, "2");
  EXPECT_FALSE(command.help);
  EXPECT_THAT(command.options.command, ElementsAre("prog", "--nproc_per_node", "9", "--help", "--", "-h"));
}

TEST(ParseLaunch, TakesAllWordsAfterTwoDashes) {
  EXPECT_THAT(parse({"--no_python", "--", "--odd-name", "-x"}).options.command,
              ElementsAre("--odd-name", "-x"));
}

TEST(ParseLaunch, DoesNotTakeAProgramForTheValueOfAFlag) {
  const launch::LaunchOptions options = parse({"--standalone", "true"}).options;
  EXPECT_TRUE(options.standalone);
  EXPECT_THAT(options.command, ElementsAre("true"));
  EXPECT_FALSE(parse({"--standalone=false", "true"}).options.standalone);
}

TEST(ParseLaunch, TakesFlagsThatAreNotGivenFromVariables) {
  const std::map<std::string, std::string> variables = {
      {"PET_NPROC_PER_NODE", "4"}, {"PET_NNODES", "2"}, {"PET_STANDALONE", ""}, {"PET_NO_PYTHON", "1"}};
  const launch::LaunchOptions options = parse({"--nnodes", "3", "prog"}, variables).options;
  EXPECT_EQ(options.nproc_per_node, "4");
  EXPECT_EQ(options.nnodes, "3");
  EXPECT_FALSE(options.standalone);
  EXPECT_TRUE(options.no_python);
  EXPECT_EQ(refusal({"prog"}, {{"PET_MASTER_PORT", "x"}}), "PET_MASTER_PORT \"x\" is not a whole number");
}

TEST(ParseLaunch, SaysWhatAFlagThatChangesNothingWouldHaveChanged) {
  EXPECT_THAT(parse({"--monitor_interval", "5", "--use_env", "--start-method=spawn", "prog"}).notes,
              ElementsAre("--monitor_interval changes nothing: the end of a rank is seen at once"));
  EXPECT_THAT(parse({"prog"}).notes, IsEmpty());
  EXPECT_EQ(
      refusal({"--virtual-local-rank", "prog"}),
      "--virtual_local_rank is not available in this version: each rank takes the GPU of its LOCAL_RANK");
  EXPECT_EQ(refusal({"--nproc_pr_node", "2", "prog"}),
            "unknown flag --nproc_pr_node; did you mean --nproc_per_node?");
}

TEST(LaunchHelp, IsAskedForBeforeTheProgram) {
  EXPECT_TRUE(parse({"--nnodes", "x", "--help"}).help);
  EXPECT_THAT(launch_help(), HasSubstr("--nproc_per_node N|auto|gpu|cpu"));
  EXPECT_THAT(launch_help(), HasSubstr("(also -t)"));
  EXPECT_THAT(general_help(), HasSubstr("  launch "));
}

}  // namespace
}  // namespace ranktune::cli
