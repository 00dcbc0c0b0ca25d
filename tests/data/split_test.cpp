#include "ranktune/data/split.h"

#include <gtest/gtest.h>

#include <optional>

#include "data/support.h"

namespace ranktune::data {
namespace {

using tests::error_of;
using tests::Floats;
using tests::Integers;
using tests::RecordingLogger;
using tests::strings;
using tests::Strings;

const LabelScheme kAb{TaskKind::classification, LabelSet({"a", "b"})};

Table csv(const std::string& text) {
  return parse_table(text, TableFormat::csv, {.name = "f.csv"});
}
Table json(const std::string& text) {
  return parse_table(text, TableFormat::json_lines, {.name = "f.jsonl"});
}

SplitData load(const Table& table, const SplitOptions& options) {
  RecordingLogger logger;
  return load_split(table, options, logger);
}

SplitOptions one_text(const LabelScheme* scheme = &kAb) {
  SplitOptions options;
  options.text.names = {"text"};
  options.scheme = scheme;
  return options;
}

TEST(LoadSplit, TextsAndClasses) {
  const SplitData split = load(csv("text,label\none,b\ntwo,a\n"), one_text());
  EXPECT_EQ(strings(split.first), (Strings{"one", "two"}));
  EXPECT_EQ(strings(split.second), (Strings{}));
  EXPECT_EQ(split.classes, (Integers{1, 0}));
  EXPECT_EQ(split.targets, (Floats{}));
  EXPECT_EQ(split.line(1), 3);
}

TEST(LoadSplit, Pairs) {
  SplitOptions options = one_text(nullptr);
  options.text.names = {"q", "p"};
  const SplitData split = load(csv("p,q\n1,2\n3,4\n"), options);
  EXPECT_EQ(strings(split.first), (Strings{"2", "4"}));
  EXPECT_EQ(strings(split.second), (Strings{"1", "3"}));
}

TEST(LoadSplit, JoinedColumnsLiveAsLongAsAnyCopy) {
  SplitOptions options = one_text(nullptr);
  options.text = {{"a", "b", "c"}, " | "};
  std::optional<SplitData> copy;
  {
    const SplitData split = load(csv("a,b,c\n1,2,3\n4,,6\n"), options);
    copy = split;
  }
  EXPECT_EQ(strings(copy->first), (Strings{"1 | 2 | 3", "4 |  | 6"}));
  EXPECT_EQ(strings(copy->second), (Strings{}));
}

TEST(LoadSplit, RegressionTargets) {
  const LabelScheme regression{TaskKind::regression, {}};
  const SplitData split = load(csv("text,label\none,1.5\ntwo,0\n"), one_text(&regression));
  EXPECT_EQ(split.targets, (Floats{1.5F, 0.0F}));
  EXPECT_EQ(split.classes, (Integers{}));
}

TEST(LoadSplit, MaxSamplesTakesTheFirstRows) {
  SplitOptions options = one_text();
  options.max_samples = 1;
  EXPECT_EQ(strings(load(csv("text,label\none,b\ntwo,a\n"), options).first), (Strings{"one"}));
  options.max_samples = 99;
  EXPECT_EQ(load(csv("text,label\none,b\ntwo,a\n"), options).rows(), 2);
  options.max_samples = 0;
  EXPECT_THROW(load(csv("text,label\none,b\n"), options), UsageError);
}

TEST(LoadSplit, LabelsAreOptional) {
  EXPECT_EQ(load(csv("text\none\n"), one_text(nullptr)).rows(), 1);
  EXPECT_EQ(error_of([] { load(csv("text,Label\none,a\n"), one_text()); }),
            "f.csv:1: no column 'label' (did you mean 'Label'?): it has text, Label; say which one with "
            "--label_column_name");
}

TEST(LoadSplit, EmptyTextsAreCounted) {
  RecordingLogger logger;
  const SplitData split = load_split(csv("text,label\none,b\n,a\n\"\",a\n"), one_text(), logger);
  EXPECT_EQ(strings(split.first), (Strings{"one", "", ""}));
  EXPECT_EQ(logger.warnings,
            (Strings{"f.csv: 2 of 3 cells in text column 'text' are empty, the first on line 3"}));
}

TEST(LoadSplit, JsonTextsMustBeScalars) {
  EXPECT_EQ(strings(load(json("{\"text\": 42}\n{\"text\": true}\n"), one_text(nullptr)).first),
            (Strings{"42", "true"}));
  const std::string null =
      "the text (key 'text') is null or missing: write \"\" for an empty text, or remove the row";
  EXPECT_EQ(error_of([] { load(json("{\"text\": \"x\"}\n{\"text\": null}\n"), one_text(nullptr)); }),
            "f.jsonl:2:10: " + null);
  EXPECT_EQ(error_of([] { load(json("{\"text\": \"x\"}\n{\"a\": 1}\n"), one_text(nullptr)); }),
            "f.jsonl:2:1: " + null);
  EXPECT_EQ(error_of([] { load(json("{\"text\": [\"x\"]}\n"), one_text(nullptr)); }),
            "f.jsonl:1:10: the text (key 'text') is a list or an object: a string is needed");
}

}  // namespace
}  // namespace ranktune::data
