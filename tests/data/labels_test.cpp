#include "ranktune/data/labels.h"

#include <gtest/gtest.h>

#include "data/support.h"

namespace ranktune::data {
namespace {

using tests::error_of;
using tests::Floats;
using tests::Integers;
using tests::RecordingLogger;
using tests::Strings;

/// A column "label" with these cells, from line 2 on.
LabelColumn csv(const std::vector<std::string>& cells, const std::string& name = "train.csv") {
  std::string text = "text,label\n";
  for (const std::string& cell : cells) text += "x," + cell + "\n";
  return {parse_table(text, TableFormat::csv, {.name = name}), 1};
}

/// The same as JSON lines; cells are JSON values.
LabelColumn json(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += "{\"label\": " + cell + "}\n";
  return {parse_table(text, TableFormat::json_lines, {.name = "train.jsonl"}), 0};
}

LabelScheme infer(const LabelColumn& train, const std::optional<LabelColumn>& validation = {}) {
  RecordingLogger logger;
  return infer_labels(train, validation, logger);
}

TEST(InferLabels, IntegersSortByValue) {
  EXPECT_EQ(infer(csv({"10", "2", "-1", "2"})).labels.names(), (Strings{"-1", "2", "10"}));
  EXPECT_EQ(infer(csv({"01", "1", " 2", "+3"})).labels.names(), (Strings{"1", "2", "3"}));
}

TEST(InferLabels, TextsSortByCodePoint) {
  EXPECT_EQ(infer(csv({"b", "a", "B", "\xC3\xA4", "z"})).labels.names(),
            (Strings{"B", "a", "b", "z", "\xC3\xA4"}));
  EXPECT_EQ(infer(csv({"10", "2", "none"})).labels.names(), (Strings{"10", "2", "none"}));
  EXPECT_EQ(infer(csv({"nan", "inf"})).labels.names(), (Strings{"inf", "nan"}));
}

TEST(InferLabels, NumbersAndTheirTextMeanTheSameInJson) {
  EXPECT_EQ(infer(json({"2", "10"})).labels.names(), (Strings{"2", "10"}));
  EXPECT_EQ(infer(json({"\"2\"", "10"})).labels.names(), (Strings{"2", "10"}));
  EXPECT_EQ(infer(json({"true", "false"})).labels.names(), (Strings{"false", "true"}));
  EXPECT_EQ(infer(json({"1", "2.5"})).kind, TaskKind::regression);
  EXPECT_EQ(infer(json({"\"1\"", "\"2.5\""})).kind, TaskKind::regression);
}

TEST(InferLabels, NumbersWithAFractionAreARegression) {
  EXPECT_EQ(infer(csv({"5.000", "0", "3.8"})).kind, TaskKind::regression);
  EXPECT_EQ(infer(csv({"1.0", "0.0"})).kind, TaskKind::regression);
  EXPECT_EQ(infer(csv({"1e3", "2"})).kind, TaskKind::regression);
  EXPECT_EQ(infer(csv({"1", "0"})).kind, TaskKind::classification);
  EXPECT_EQ(infer(csv({"1.5", "high"})).kind, TaskKind::classification);
}

TEST(InferLabels, LabelsOfTheValidationFileAreAddedInOrderAndTold) {
  RecordingLogger logger;
  const LabelScheme scheme = infer_labels(csv({"a", "c"}), csv({"c", "b", "b"}, "dev.csv"), logger);
  EXPECT_EQ(scheme.labels.names(), (Strings{"a", "b", "c"}));
  EXPECT_EQ(logger.warnings,
            (Strings{"dev.csv:3: label 'b' is in the validation file only: a class is added that "
                     "training never sees"}));
  EXPECT_EQ(infer(csv({"1", "3"}), csv({"2", "3"})).labels.names(), (Strings{"1", "2", "3"}));
}

TEST(InferLabels, WarnsWhenNearlyEachRowHasItsOwnLabel) {
  std::vector<std::string> cells;
  for (int i = 0; i < 60; ++i) cells.push_back("text " + std::to_string(i));
  RecordingLogger logger;
  infer_labels(csv(cells), std::nullopt, logger);
  EXPECT_EQ(
      logger.warnings,
      (Strings{"train.csv: column 'label' has 60 different labels in 60 rows: is it the label column?"}));
}

TEST(InferLabels, CellsThatCannotBeLabels) {
  const std::string missing = "the label (column 'label') is missing: fill it in or remove the row";
  EXPECT_EQ(error_of([] { infer(csv({"a", "", "b"})); }), "train.csv:3:3: " + missing);
  EXPECT_EQ(error_of([] { infer(csv({"1.5", "", "2.5"})); }), "train.csv:3:3: " + missing);
  EXPECT_EQ(error_of([] { infer(json({"1", "null"})); }), "train.jsonl:2:11: " + missing);
  EXPECT_EQ(error_of([] { infer(json({"[1, 2]"})); }),
            "train.jsonl:1:11: the label (column 'label') is a list or an object: one label a row is needed");
}

TEST(InferLabels, RegressionNeedsFiniteNumbers) {
  EXPECT_EQ(error_of([] {
              infer(csv({"1.5", "nan", "2"}));
            }),
            "train.csv:3:3: label 'nan' is no finite number: fill it in or remove the row");
  EXPECT_EQ(error_of([] {
              infer(csv({"1.5", "-inf"}));
            }),
            "train.csv:3:3: label '-inf' is no finite number: fill it in or remove the row");
  EXPECT_EQ(
      error_of([] {
        infer(csv({"1.5", "2"}), csv({"2", "high"}, "dev.csv"));
      }),
      "dev.csv:3:3: label 'high' is no number, and the training file's labels are numbers with fractions (a "
      "regression)");
}

TEST(InferLabels, FractionsInTheValidationFileOfAClassification) {
  EXPECT_EQ(error_of([] {
              infer(csv({"1", "0"}), csv({"1", "0.5"}, "dev.csv"));
            }),
            "dev.csv:3:3: label '0.5' is no integer, but the labels of the training file are: write them in "
            "the same way");
}

TEST(RequireTwoClasses, RefusesOneLabel) {
  EXPECT_EQ(error_of([] {
              require_two_classes(csv({"spam", "spam", "spam"}));
            }),
            "train.csv: all 3 rows have the label 'spam' (column 'label'): at least two different labels are "
            "needed to "
            "learn from; is it the right column? (--label_column_name)");
  require_two_classes(csv({"spam", "ham"}));
}

TEST(MatchLabels, NamesOfTheCheckpointDecideTheIds) {
  RecordingLogger logger;
  const LabelSet found({"negative", "positive"});
  EXPECT_EQ(match_labels(LabelSet({"positive", "negative"}), found, logger).names(),
            (Strings{"positive", "negative"}));
  EXPECT_EQ(match_labels(LabelSet({"positive", "neutral", "negative"}), found, logger).names(),
            (Strings{"positive", "neutral", "negative"}));
  EXPECT_EQ(logger.warnings, (Strings{}));
}

TEST(MatchLabels, LetterCaseDoesNotCountAndTheDataSpells) {
  RecordingLogger logger;
  const LabelSet matched =
      match_labels(LabelSet({"POSITIVE", "NEGATIVE"}), LabelSet({"negative", "positive"}), logger);
  EXPECT_EQ(matched.names(), (Strings{"positive", "negative"}));
  EXPECT_EQ(matched.find("negative"), 1);
  EXPECT_EQ(match_labels(LabelSet({"no", "No"}), LabelSet({"No", "no"}), logger).names(),
            (Strings{"no", "No"}));
  EXPECT_EQ(logger.warnings, (Strings{}));
}

TEST(MatchLabels, DefaultNamesAreNoNames) {
  RecordingLogger logger;
  EXPECT_EQ(match_labels(LabelSet({"LABEL_0", "LABEL_1"}), LabelSet({"a", "b"}), logger).names(),
            (Strings{"a", "b"}));
  EXPECT_EQ(match_labels(LabelSet(), LabelSet({"a", "b"}), logger).names(), (Strings{"a", "b"}));
  EXPECT_EQ(logger.warnings, (Strings{}));
}

TEST(MatchLabels, OtherNamesAreWarnedAbout) {
  RecordingLogger logger;
  EXPECT_EQ(match_labels(LabelSet({"joy", "anger"}), LabelSet({"ham", "joy"}), logger).names(),
            (Strings{"ham", "joy"}));
  EXPECT_EQ(logger.warnings,
            (Strings{"the checkpoint's labels (joy, anger) do not cover the data's (ham, joy): the "
                     "data's are used"}));
}

TEST(ReadClasses, GivesIdsByNameOrByInteger) {
  EXPECT_EQ(read_classes(csv({"b", "a", "b"}), LabelSet({"a", "b"}), 3), (Integers{1, 0, 1}));
  EXPECT_EQ(read_classes(csv({"01", "0", "1"}), LabelSet({"0", "1"}), 2), (Integers{1, 0}));
}

TEST(ReadClasses, UnknownLabel) {
  EXPECT_EQ(error_of([] {
              read_classes(csv({"ham", "spma"}), LabelSet({"ham", "spam"}), 2);
            }),
            "train.csv:3:3: label 'spma' is not known (did you mean 'spam'?): the labels are ham, spam");
}

TEST(ReadTargets, GivesNumbers) {
  EXPECT_EQ(read_targets(csv({"5.000", " 0", "-2.5e-1"}), 3), (Floats{5.0F, 0.0F, -0.25F}));
  EXPECT_EQ(read_targets(json({"1", "\"2.5\""}), 2), (Floats{1.0F, 2.5F}));
  EXPECT_EQ(error_of([] { read_targets(csv({"1e39"}), 1); }),
            "train.csv:2:3: label '1e39' is no finite number: fill it in or remove the row");
}

}  // namespace
}  // namespace ranktune::data
