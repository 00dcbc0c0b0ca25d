#include "cli/programs.h"

#include <gtest/gtest.h>

namespace ranktune::cli {
namespace {

TEST(FrontProgram, IsWhatTheUserTypedOrLiesBesideLibexec) {
  EXPECT_EQ(front_program("ranktune", "/home/ada"), "ranktune");
  EXPECT_EQ(front_program("build/bin/ranktune", "/home/ada"), "build/bin/ranktune");
  EXPECT_EQ(front_program("/opt/ranktune/libexec/ranktune-train", "/home/ada"), "/opt/ranktune/bin/ranktune");
  EXPECT_EQ(front_program("/home/ada/build/libexec/ranktune-train", "/home/ada"), "build/bin/ranktune");
}

}  // namespace
}  // namespace ranktune::cli
