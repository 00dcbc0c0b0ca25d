#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/train/text_classification.h"
#include "support/error_text.h"
#include "support/fixture.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string predicted(const PredictArguments& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  core::NullLogger logger;
  Observer observer;
  run_predict(arguments, in, out, logger, observer);
  return out.str();
}

PredictArguments with_model() {
  PredictArguments arguments;
  arguments.model = tests::fixture_path("tiny_bert_classifier");
  arguments.use_cpu = true;
  return arguments;
}

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(RunPredict, LabelsTheTextsOfTheCommandLine) {
  PredictArguments arguments = with_model();
  arguments.texts = {"fine rain", "bitter"};
  EXPECT_THAT(predicted(arguments),
              MatchesRegex("[^\t]+\t[01]\\.[0-9]+\tfine rain\n[^\t]+\t[01]\\.[0-9]+\tbitter\n"));
}

TEST(RunPredict, ReadsStandardInputALineAText) {
  PredictArguments arguments = with_model();
  PredictArguments typed = with_model();
  typed.texts = {"fine rain", "bitter"};
  EXPECT_EQ(predicted(arguments, "fine rain\nbitter\n"), predicted(typed));
}

TEST(RunPredict, KeepsOrderAndColumnsOfAFile) {
  const tests::TemporaryFolder folder;
  PredictArguments arguments = with_model();
  arguments.file = folder.file("rows.csv", "id,text\n7,fine rain\n3,bitter\n5,fine rain\n");
  const std::string csv = predicted(arguments);
  EXPECT_THAT(csv, MatchesRegex("id,text,label,score\n7,fine rain,[^,]+,[0-9.]+\n3,bitter,[^,]+,[0-9.]+\n"
                                "5,fine rain,[^,]+,[0-9.]+\n"));
  const std::size_t first = csv.find("fine rain"), last = csv.rfind("fine rain");
  EXPECT_EQ(csv.substr(first, csv.find('\n', first) - first), csv.substr(last, csv.find('\n', last) - last));
}

TEST(RunPredict, GivesAllProbabilitiesAsJson) {
  const tests::TemporaryFolder folder;
  PredictArguments arguments = with_model();
  arguments.file = folder.file("rows.csv", "id,text\n7,fine rain\n3,bitter\n");
  arguments.output = folder.path() / "labels.jsonl";
  arguments.scores = true;
  arguments.top_k = 2;
  EXPECT_EQ(predicted(arguments), "");
  for (const nlohmann::json& line : lines_of(core::read_file(*arguments.output))) {
    double sum = 0;
    for (const auto& [label, score] : line.at("scores").items()) sum += score.get<double>();
    EXPECT_EQ(line.at("scores").size(), 3U);
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_EQ(line.at("scores").at(line.at("label").get<std::string>()), line.at("score"));
    EXPECT_EQ(line.at("scores").at(line.at("label_2").get<std::string>()), line.at("score_2"));
    EXPECT_GE(line.at("score").get<double>(), line.at("score_2").get<double>());
  }
}

TEST(RunPredict, DoesNotDependOnTheBatch) {
  PredictArguments arguments = with_model();
  arguments.texts = {"fine rain", "bitter", "rain", "it had music today", "fine"};
  const std::string together = predicted(arguments);
  arguments.batch_size = 2;
  EXPECT_EQ(predicted(arguments), together);
}

TEST(RunPredict, RefusesAnOutputThatItCannotWriteBeforeItWorks) {
  PredictArguments arguments = with_model();
  arguments.texts = {"fine"};
  arguments.output = "/absent-folder/out.csv";
  EXPECT_THAT(tests::error_text<UsageError>([&] { predicted(arguments); }), HasSubstr("there is no folder"));
  arguments.output = "out.xyz";
  EXPECT_THAT(tests::error_text<UsageError>([&] { predicted(arguments); }), HasSubstr("xyz"));
}

TEST(RunPredict, RefusesAnEmptyInput) {
  EXPECT_THAT(tests::error_text<DataError>([] { predicted(with_model(), ""); }), HasSubstr("standard input"));
}

}  // namespace
}  // namespace ranktune::train
