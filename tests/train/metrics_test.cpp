#include "ranktune/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ranktune/core/json.h"

namespace ranktune::train {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-12;

json cases(const std::string& name) {
  return core::read_json_file(std::filesystem::path(RANKTUNE_SOURCE_DIR) / "tests/fixtures/metrics" / name);
}

/// null stands for NaN.
void expect_figure(double actual, const json& expected, const std::string& what) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual;
  } else {
    EXPECT_NEAR(actual, expected.get<double>(), kTolerance * std::max(1.0, std::abs(expected.get<double>())))
        << what;
  }
}

ConfusionMatrix count(const json& each, std::size_t begin, std::size_t end) {
  ConfusionMatrix matrix(each["classes"].get<std::int64_t>());
  for (std::size_t i = begin; i < end; ++i) matrix.add(each["labels"][i], each["predictions"][i]);
  return matrix;
}

void expect_scores(const ConfusionMatrix& matrix, const json& each) {
  const std::string name = each["name"];
  expect_figure(matrix.accuracy(), each["accuracy"], name + ": accuracy");
  expect_figure(matrix.macro_f1(), each["macro_f1"], name + ": macro F1");
  expect_figure(matrix.micro_f1(), each["micro_f1"], name + ": micro F1");
  expect_figure(matrix.weighted_f1(), each["weighted_f1"], name + ": weighted F1");
  expect_figure(matrix.matthews_correlation(), each["matthews"], name + ": Matthews");
  for (std::int64_t label = 0; label < matrix.num_classes(); ++label) {
    const auto i = static_cast<std::size_t>(label);
    const ClassScores scores = matrix.scores(label);
    expect_figure(scores.precision, each["precision"][i], name + ": precision");
    expect_figure(scores.recall, each["recall"][i], name + ": recall");
    expect_figure(scores.f1, each["f1"][i], name + ": F1");
    EXPECT_EQ(scores.support, each["support"][i]) << name;
    for (std::int64_t other = 0; other < matrix.num_classes(); ++other)
      EXPECT_EQ(matrix.count(label, other), each["confusion"][i][static_cast<std::size_t>(other)]) << name;
  }
}

TEST(ConfusionMatrix, GivesTheFiguresOfScikitLearn) {
  const json all = cases("classification.json");
  ASSERT_EQ(all.size(), 37U);
  for (const json& each : all) expect_scores(count(each, 0, each["labels"].size()), each);
}

TEST(ConfusionMatrix, MergedPartsGiveTheFiguresOfTheWhole) {
  for (const json& each : cases("classification.json")) {
    const std::size_t rows = each["labels"].size();
    ConfusionMatrix matrix = count(each, 0, rows / 3);
    matrix.merge(count(each, rows / 3, rows));
    EXPECT_EQ(matrix.rows(), static_cast<std::int64_t>(rows));
    expect_scores(matrix, each);
  }
}

TEST(ConfusionMatrix, IsZeroWithoutRows) {
  const ConfusionMatrix matrix(3);
  EXPECT_EQ(matrix.accuracy(), 0);
  EXPECT_EQ(matrix.macro_f1(), 0);
  EXPECT_EQ(matrix.weighted_f1(), 0);
  EXPECT_EQ(matrix.matthews_correlation(), 0);
  EXPECT_EQ(matrix.scores(2).f1, 0);
}

RegressionScores collect(const json& each, std::size_t begin, std::size_t end) {
  RegressionScores scores;
  for (std::size_t i = begin; i < end; ++i) scores.add(each["labels"][i], each["predictions"][i]);
  return scores;
}

void expect_scores(const RegressionScores& scores, const json& each) {
  const std::string name = each["name"];
  expect_figure(scores.mean_squared_error(), each["mse"], name + ": MSE");
  expect_figure(scores.mean_absolute_error(), each["mae"], name + ": MAE");
  expect_figure(scores.pearson(), each["pearson"], name + ": Pearson");
  expect_figure(scores.spearman(), each["spearman"], name + ": Spearman");
}

TEST(RegressionScores, GiveTheFiguresOfScikitLearnAndScipy) {
  const json all = cases("regression.json");
  ASSERT_EQ(all.size(), 26U);
  for (const json& each : all) expect_scores(collect(each, 0, each["labels"].size()), each);
}

TEST(RegressionScores, MergedPartsGiveTheFiguresOfTheWhole) {
  for (const json& each : cases("regression.json")) {
    const std::size_t rows = each["labels"].size();
    RegressionScores scores = collect(each, 0, rows / 2);
    scores.merge(collect(each, rows / 2, rows));
    EXPECT_EQ(scores.rows(), static_cast<std::int64_t>(rows));
    expect_scores(scores, each);
  }
}

TEST(RegressionScores, AreNotANumberWithoutRowsAndForPredictionsThatAreNone) {
  RegressionScores scores;
  EXPECT_TRUE(std::isnan(scores.mean_squared_error()));
  EXPECT_TRUE(std::isnan(scores.mean_absolute_error()));
  EXPECT_TRUE(std::isnan(scores.pearson()));
  scores.add(1, std::nan(""));
  scores.add(2, 1);
  scores.add(3, 4);
  EXPECT_TRUE(std::isnan(scores.mean_squared_error()));
  EXPECT_TRUE(std::isnan(scores.pearson()));
  EXPECT_TRUE(std::isnan(scores.spearman()));
}

}  // namespace
}  // namespace ranktune::train
