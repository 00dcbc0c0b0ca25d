#include "ranktune/data/table_writer.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "data/support.h"

namespace ranktune::data {
namespace {

using tests::row_of;
using tests::Strings;

const std::vector<ExtraColumn> kLabelAndScore = {{"label", {}}, {"score", {}}};

/// Writes all rows of `input` with the same extra values.
std::string written(TableFormat format, const Table& input, const std::vector<ExtraColumn>& extra,
                    const std::vector<ExtraValue>& values, bool header = true) {
  std::ostringstream out;
  TableWriter writer(out, format, input, extra, header);
  for (std::int64_t row = 0; row < input.rows(); ++row) writer.write(row, values);
  writer.finish();
  return out.str();
}

Table csv(const std::string& text) {
  return parse_table(text, TableFormat::csv);
}
Table json(const std::string& text) {
  return parse_table(text, TableFormat::json);
}

TEST(TableWriter, CsvQuotesWhatNeedsIt) {
  const Table input = csv("id,text\n1,\"a, b\"\n2,\"say \"\"hi\"\"\"\n3,\"two\nlines\"\n4, plain \n");
  EXPECT_EQ(written(TableFormat::csv, input, kLabelAndScore, {std::string("x,y"), 0.5}),
            "id,text,label,score\n"
            "1,\"a, b\",\"x,y\",0.5\n"
            "2,\"say \"\"hi\"\"\",\"x,y\",0.5\n"
            "3,\"two\nlines\",\"x,y\",0.5\n"
            "4, plain ,\"x,y\",0.5\n");
}

TEST(TableWriter, TsvHasSpacesForTabsAndLineBreaks) {
  const Table input = csv("text\n\"a\tb\r\nc \"\"q\"\"\"\n");
  EXPECT_EQ(written(TableFormat::tsv, input, kLabelAndScore, {std::string("pos"), 1.0}),
            "text\tlabel\tscore\na b  c \"q\"\tpos\t1.0\n");
}

TEST(TableWriter, JsonLinesKeepTypes) {
  const Table input = json(
      "[{\"t\": \"caf\\u00e9 \\\"\\n\", \"i\": 7, \"f\": 1.50, \"b\": true, \"l\": [1,\n {\"k\": "
      "\"]\"}]},\n{\"t\": \"\"}]");
  EXPECT_EQ(
      written(TableFormat::json_lines, input, kLabelAndScore, {std::int64_t{3}, 0.25}),
      "{\"t\": \"caf\xC3\xA9 \\\"\\n\", \"i\": 7, \"f\": 1.50, \"b\": true, \"l\": [1,  {\"k\": \"]\"}], "
      "\"label\": 3, "
      "\"score\": 0.25}\n"
      "{\"t\": \"\", \"i\": null, \"f\": null, \"b\": null, \"l\": null, \"label\": 3, \"score\": 0.25}\n");
}

TEST(TableWriter, CellsOfCsvAreStringsInJson) {
  EXPECT_EQ(written(TableFormat::json, csv("n,text\n1,a\n2,b\n"), {{"label", {}}}, {std::monostate()}),
            "[\n{\"n\": \"1\", \"text\": \"a\", \"label\": null},\n{\"n\": \"2\", \"text\": \"b\", "
            "\"label\": null}\n]\n");
}

TEST(TableWriter, FieldsAreAnObjectInJsonAndColumnsInCsv) {
  const std::vector<ExtraColumn> scores = {{"scores", {"good", "so-so, bad"}}};
  const std::vector<ExtraValue> values = {std::vector<double>{0.75, 0.25}};
  EXPECT_EQ(written(TableFormat::json_lines, json("{\"text\": \"a\"}"), scores, values),
            "{\"text\": \"a\", \"scores\": {\"good\": 0.75, \"so-so, bad\": 0.25}}\n");
  EXPECT_EQ(written(TableFormat::csv, csv("text\na\n"), scores, values),
            "text,scores.good,\"scores.so-so, bad\"\na,0.75,0.25\n");
  EXPECT_EQ(written(TableFormat::csv, csv("text\na\n"), scores, {std::monostate()}),
            "text,scores.good,\"scores.so-so, bad\"\na,,\n");
}

TEST(TableWriter, NamesThatTheInputHasAreMadeUnique) {
  std::ostringstream out;
  const TableWriter writer(out, TableFormat::csv,
                           csv("text,label,score,predicted_score,scores.a\n1,2,3,4,5\n"),
                           {{"label", {}}, {"score", {}}, {"scores", {"a", "b"}}, {"other", {}}});
  EXPECT_EQ(out.str(),
            "text,label,score,predicted_score,scores.a,predicted_label,predicted_score_2,predicted_scores.a,"
            "predicted_scores.b,other\n");
  EXPECT_EQ(writer.extra_columns()[1].name, "predicted_score_2");
}

TEST(TableWriter, HeaderCanBeLeftOut) {
  const Table input = parse_table("a,b\n", TableFormat::csv, {.header = false});
  EXPECT_EQ(written(TableFormat::csv, input, {{"label", {}}}, {std::string("x")}, false), "a,b,x\n");
}

TEST(TableWriter, LoneEmptyCellIsNoBlankLine) {
  EXPECT_EQ(written(TableFormat::csv, csv("text\na\n\"\"\n"), {}, {}), "text\na\n\"\"\n");
}

/// Cells of letters that matter to the formats, the same ones in each run.
std::vector<std::vector<std::string>> random_rows(int rows, int columns) {
  constexpr std::string_view kLetters = "ab ,;\"\t\n\r\\{}[]:'\xC3\xA9";
  std::mt19937 random(7);
  std::vector<std::vector<std::string>> table(rows, std::vector<std::string>(columns));
  for (auto& row : table)
    for (std::string& cell : row)
      for (auto length = random() % 8; length > 0; --length) {
        const std::size_t letter = random() % (kLetters.size() - 1);
        cell += letter == kLetters.size() - 2 ? kLetters.substr(letter) : kLetters.substr(letter, 1);
      }
  return table;
}

TEST(TableWriter, WhatIsWrittenReadsBackTheSame) {
  const auto rows = random_rows(500, 3);
  for (const TableFormat format : {TableFormat::csv, TableFormat::json_lines, TableFormat::json}) {
    for (const auto& row : rows) {
      const Table input = table_of_texts({row[0]}, "text");
      const std::string text = written(format, input, {{"b", {}}, {"c", {}}}, {row[1], row[2]});
      EXPECT_EQ(row_of(parse_table(text, format), 0), (Strings{row[0], row[1], row[2]})) << text;
    }
  }
}

}  // namespace
}  // namespace ranktune::data
