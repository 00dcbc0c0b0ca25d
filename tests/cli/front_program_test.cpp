// Runs the real front program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "ranktune/core/files.h"
#include "ranktune/version.h"
#include "support/process.h"
#include "support/temporary_folder.h"

namespace ranktune::tests {
namespace {

using Words = std::vector<std::string>;

const std::filesystem::path kRanktune = std::filesystem::path(RANKTUNE_BIN_DIR) / "ranktune";

struct ErrorCase {
  Words words;
  std::string line;
};

TEST(FrontProgram, AnswersWrongArgumentsWithOneLineAndExitCode2) {
  const std::vector<ErrorCase> cases = {
      {{"trian"}, "ranktune: error: unknown verb \"trian\"; did you mean train?\n"},
      {{"xyz"}, "ranktune: error: unknown verb \"xyz\"; ranktune --help lists the verbs\n"},
      {{"train", "--learning_rte", "1"},
       "ranktune train: error: unknown flag --learning_rte; did you mean --learning_rate?\n"},
      {{"train"},
       "ranktune train: error: no model to start from: add --model_name_or_path DIR (ranktune train --help "
       "lists all "
       "flags)\n"},
      {{"train", "--model_name_or_path", "m", "--do_train", "--train_file", "t.csv", "--output_dir", "o",
        "--per_device_train_batch_size", "0"},
       "ranktune train: error: --per_device_train_batch_size 0: it must be 1 or more\n"},
      {{"predict"},
       "ranktune predict: error: no model to label with: add --model DIR (ranktune predict --help lists all "
       "flags)\n"}};
  for (const ErrorCase& c : cases) {
    const ProcessResult result = run_process(kRanktune, c.words);
    EXPECT_EQ(result.exit_code, 2) << c.line;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, c.line);
  }
}

TEST(FrontProgram, NamesThePlaceInAFileOfArguments) {
  const TemporaryFolder folder;
  const std::string file = folder.file("args.json", "{\n  \"sede\": 1\n}").string();
  const ProcessResult result = run_process(kRanktune, {"train", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "ranktune train: error: " + file + ":2:3: unknown argument \"sede\"; did you mean seed?\n");
}

/// `ranktune doctor` needs the program that is linked with LibTorch.
bool has_train_program() {
  return std::filesystem::exists(std::filesystem::path(RANKTUNE_BIN_DIR) / "../libexec/ranktune-train");
}

TEST(FrontProgram, ExaminesAProcessThatIsAlone) {
  if (!has_train_program()) GTEST_SKIP() << "built without LibTorch";
  const ProcessResult result = run_process(kRanktune, {"doctor", "--json", "--use_cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report.at("process").at("local_rank"), -1);
  EXPECT_EQ(report.at("process").at("world_size"), 1);
  EXPECT_EQ(report.at("device").at("name"), "cpu");
  EXPECT_EQ(report.at("libtorch").at("backends").at(0), "gloo");
}

/// The exit code says whether the examination succeeded; what it found is in the report.
TEST(FrontProgram, TellsWhatALocalRankMeansThatNobodyGave) {
  if (!has_train_program()) GTEST_SKIP() << "built without LibTorch";
  const ProcessResult result = run_process(kRanktune, {"doctor", "--json", "--local_rank", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto problems = nlohmann::json::parse(result.out).at("problems");
  ASSERT_EQ(problems.size(), 1) << problems;
  EXPECT_EQ(problems.at(0).get<std::string>().find("--local_rank 1 means: this is process 1 of several"), 0)
      << problems;
}

TEST(FrontProgram, RefusesToBeOneOfSeveralProcesses) {
  const ProcessResult result = run_process(
      kRanktune,
      {"train", "--model_name_or_path", "m", "--do_train", "--train_file", "t.csv", "--output_dir", "o"},
      {.environment = {"WORLD_SIZE=2"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("WORLD_SIZE=2"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(FrontProgram, LeavesItsErrorWhereALauncherLooksForIt) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "error.json").string();
  const ProcessResult result =
      run_process(kRanktune, {"train"}, {.environment = {"TORCHELASTIC_ERROR_FILE=" + file}});
  EXPECT_EQ(result.exit_code, 2);
  const nlohmann::json message = nlohmann::json::parse(core::read_file(file)).at("message");
  EXPECT_EQ(result.err, "ranktune train: error: " + message.at("message").get<std::string>() + "\n");
  EXPECT_GT(std::stoll(message.at("extraInfo").at("timestamp").get<std::string>()), 1'700'000'000);
}

TEST(FrontProgram, HelpsOnStandardOutput) {
  for (const Words& words :
       {Words{}, Words{"--help"}, Words{"-h"}, Words{"train", "--help"}, Words{"predict", "-h"}}) {
    const ProcessResult result = run_process(kRanktune, words);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("usage: ranktune"), std::string::npos);
    EXPECT_EQ(result.err, "");
    std::printf("ranktune %s: %.1f ms\n", words.empty() ? "" : words.front().c_str(), result.seconds * 1e3);
  }
  EXPECT_EQ(run_process(kRanktune, {"--version"}).out, "ranktune " RANKTUNE_VERSION "\n");
}

/// The front program in an installation of its own, where the test decides what lies in libexec.
class Installation {
 public:
  Installation() {
    std::filesystem::create_directories(folder_.path() / "bin");
    std::filesystem::copy_file(kRanktune, program());
  }

  std::filesystem::path program() const { return folder_.path() / "bin" / "ranktune"; }
  const std::filesystem::path& path() const { return folder_.path(); }

  void add_train_program(std::string_view script) const {
    const auto file = folder_.file("libexec/ranktune-train", script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  TemporaryFolder folder_;
};

TEST(FrontProgram, HandsGoodArgumentsOverAsTheyAre) {
  const Installation installation;
  installation.add_train_program(
      "#!/bin/sh\nfor word; do echo \"[$word]\"; done\ncat\necho oops >&2\nexit 7\n");
  const ProcessResult result = run_process(
      installation.program(), {"predict", "--model", "out", "two words", "", "--top-k=2"}, {.input = "in\n"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out, "[predict]\n[--model]\n[out]\n[two words]\n[]\n[--top-k=2]\nin\n");
  EXPECT_EQ(result.err, "oops\n");
}

TEST(FrontProgram, FindsItsOtherHalfThroughALink) {
  const Installation installation;
  installation.add_train_program("#!/bin/sh\necho started\n");
  const TemporaryFolder elsewhere;
  std::filesystem::create_symlink(installation.program(), elsewhere.path() / "rt");
  EXPECT_EQ(run_process(elsewhere.path() / "rt", {"predict", "--model", "out", "text"}).out, "started\n");
}

TEST(FrontProgram, SaysWhenItsOtherHalfIsMissing) {
  const Installation installation;
  const ProcessResult result = run_process(installation.program(), {"predict", "--model", "out", "text"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "ranktune predict: error: " + (installation.path() / "libexec/ranktune-train").string() +
                " is missing: this ranktune was built without LibTorch (RANKTUNE_LIBTORCH=OFF), or was moved "
                "without its libexec folder\n");
}

TEST(FrontProgram, SaysWhenItsOutputCannotBeWritten) {
  const ProcessResult result =
      run_process("/bin/sh", {"-c", "exec \"$0\" --help > /dev/full", kRanktune.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "ranktune: error: standard output cannot be written\n");
}

TEST(RunProcess, KillsWhatRunsTooLong) {
  const ProcessResult result =
      run_process("/bin/sh", {"-c", "cat < /dev/zero > /dev/null & wait"}, {.limit_seconds = 0.2});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

}  // namespace
}  // namespace ranktune::tests
