#include "ranktune/launch/host_list.h"

#include <gtest/gtest.h>

#include "ranktune/core/error.h"

namespace ranktune::launch {
namespace {

using Hosts = std::vector<std::string>;
using Counts = std::vector<std::int64_t>;

TEST(HostList, ExpandsRangesAndKeepsZeros) {
  EXPECT_EQ(expand_host_list("n[01-03,7],gpu5"), (Hosts{"n01", "n02", "n03", "n7", "gpu5"}));
  EXPECT_EQ(expand_host_list("n[9-11]"), (Hosts{"n9", "n10", "n11"}));
  EXPECT_EQ(expand_host_list("node"), (Hosts{"node"}));
}

TEST(HostList, ExpandsSeveralGroupsAndSuffixes) {
  EXPECT_EQ(expand_host_list("r[1-2]n[08-09].hpc"),
            (Hosts{"r1n08.hpc", "r1n09.hpc", "r2n08.hpc", "r2n09.hpc"}));
}

TEST(HostList, RefusesWhatIsNone) {
  for (const char* text : {"", "n[1-", "n[3-1]", "n[a-b]", "n]1", "a,,b", "n[1-9999999999]"})
    EXPECT_THROW(expand_host_list(text), UsageError) << text;
}

TEST(TaskCounts, ExpandsRepetitions) {
  EXPECT_EQ(expand_task_counts("2(x3),1"), (Counts{2, 2, 2, 1}));
  EXPECT_EQ(expand_task_counts("4"), (Counts{4}));
  for (const char* text : {"", "2(x", "2(x0)", "x3", "2(x3"})
    EXPECT_THROW(expand_task_counts(text), UsageError) << text;
}

}  // namespace
}  // namespace ranktune::launch
