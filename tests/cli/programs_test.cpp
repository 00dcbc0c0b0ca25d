#include "cli/programs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ranktune::cli {
namespace {

TEST(FrontProgram, IsWhatTheUserTypedOrLiesBesideLibexec) {
  EXPECT_EQ(front_program("ranktune", "/home/ada", "/usr/bin"), "ranktune");
  EXPECT_EQ(front_program("build/bin/ranktune", "/home/ada", "/usr/bin"), "build/bin/ranktune");
  EXPECT_EQ(front_program("/opt/ranktune/libexec/ranktune-train", "/home/ada", "/usr/bin"),
            "/opt/ranktune/bin/ranktune");
  EXPECT_EQ(front_program("/home/ada/build/libexec/ranktune-train", "/home/ada", "/usr/bin"),
            "build/bin/ranktune");
}

TEST(FrontProgram, IsItsNameWhereThePathFindsIt) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "ranktune_programs_test";
  for (const char* folder : {"prefix/bin", "other"}) {
    std::filesystem::create_directories(root / folder);
    std::ofstream(root / folder / "ranktune") << "a program";
  }
  const std::string own = (root / "prefix/bin").string(), other = (root / "other").string();
  const std::filesystem::path train = root / "prefix/libexec/ranktune-train";
  EXPECT_EQ(front_program(train, "/home/ada", "/usr/bin:" + own + ":" + other), "ranktune");
  EXPECT_EQ(front_program(train, "/home/ada", other + ":" + own), own + "/ranktune");  // PATH finds another
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace ranktune::cli
