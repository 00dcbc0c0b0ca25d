#include "ranktune/data/columns.h"

#include <gtest/gtest.h>

#include "data/support.h"

namespace ranktune::data {
namespace {

using tests::error_of;
using tests::RecordingLogger;
using tests::Strings;

/// A table of one row with these columns.
Table with_columns(const std::string& header) {
  std::string row;
  for (const char letter : header) row += letter == ',' ? ",x" : "";
  return parse_table(header + "\nx" + row + "\n", TableFormat::csv, {.name = "f.csv"});
}

std::vector<std::string> chosen(const std::string& header, const std::string& label = "label") {
  RecordingLogger logger;
  return choose_text_columns(with_columns(header), {}, std::nullopt, label, logger).names;
}

TEST(DefaultColumns, NamesOfGlueComeFirst) {
  EXPECT_EQ(chosen("title,sentence2,sentence1,text,label"), (Strings{"sentence1", "sentence2"}));
  EXPECT_EQ(chosen("title,text,sentence,label"), (Strings{"sentence"}));
  EXPECT_EQ(chosen("tweet_id,name,text,label"), (Strings{"text"}));
}

TEST(DefaultColumns, OtherwiseTheFirstTwoThatAreNotTheLabel) {
  EXPECT_EQ(chosen("label,premise,hypothesis,author"), (Strings{"premise", "hypothesis"}));
  EXPECT_EQ(chosen("review,label"), (Strings{"review"}));
  EXPECT_EQ(chosen("text,review", "text"), (Strings{"review"}));
}

TEST(DefaultColumns, KeysAndColumnsWithoutNameAreNoText) {
  EXPECT_EQ(chosen("id,review,label"), (Strings{"review"}));
  EXPECT_EQ(chosen("Quality,#1 ID,#2 ID,#1 String,#2 String", "Quality"),
            (Strings{"#1 String", "#2 String"}));
  EXPECT_EQ(chosen(",idx,index,tweet_id,review,label"), (Strings{"review"}));
  EXPECT_EQ(chosen("v1,v2,,,", "v1"), (Strings{"v2"}));
  EXPECT_EQ(chosen("paid,label"), (Strings{"paid"}));
}

TEST(DefaultColumns, AreTold) {
  RecordingLogger logger;
  choose_text_columns(with_columns("a,b,label"), {}, std::nullopt, "label", logger);
  choose_text_columns(with_columns("a,b,label"), {}, " ", "label", logger);
  choose_text_columns(with_columns("text,label"), {}, std::nullopt, "label", logger);
  EXPECT_EQ(logger.infos,
            (Strings{"f.csv: text is column 'a' paired with 'b' (choose others with --text_column_names)",
                     "f.csv: text is column 'a' joined with 'b' (choose others with --text_column_names)",
                     "f.csv: text is column 'text' (choose others with --text_column_names)"}));
}

TEST(DefaultColumns, NoneThatFits) {
  EXPECT_EQ(error_of([] { chosen("id,label"); }),
            "f.csv:1: no column that can be text: it has id, label; say which one with --text_column_names");
}

TEST(ChosenColumns, OneIsATextTwoAreAPair) {
  RecordingLogger logger;
  const Table table = with_columns("a,b,c,label");
  EXPECT_FALSE(choose_text_columns(table, {"c"}, std::nullopt, "label", logger).is_pair());
  EXPECT_TRUE(choose_text_columns(table, {"c", "a"}, std::nullopt, "label", logger).is_pair());
  EXPECT_FALSE(choose_text_columns(table, {"c", "a"}, " ", "label", logger).is_pair());
  EXPECT_EQ(choose_text_columns(table, {"c", "b", "a"}, " ", "label", logger).names,
            (Strings{"c", "b", "a"}));
  EXPECT_EQ(logger.infos, (Strings{}));
}

TEST(ChosenColumns, Errors) {
  RecordingLogger logger;
  const Table table = with_columns("title,body,tags,label");
  const auto error = [&](const std::vector<std::string>& names) {
    return error_of([&] { choose_text_columns(table, names, std::nullopt, "label", logger); });
  };
  EXPECT_EQ(error({"titel"}),
            "f.csv:1: no column 'titel' (did you mean 'title'?): it has title, body, tags, label; say "
            "which one with --text_column_names");
  EXPECT_EQ(error({"title", "body", "tags"}),
            "--text_column_names has 3 columns: give one, or two for a pair, or join them into one text with "
            "--text_column_delimiter \" \"");
  EXPECT_EQ(error({"body", "label"}),
            "column 'label' cannot be text and label: check --text_column_names and --label_column_name");
  EXPECT_EQ(error({"body", "body"}), "--text_column_names has 'body' twice");
}

TEST(RequireColumn, HintsAtAWrongExtension) {
  const Table table = parse_table("text,label\na,1\n", TableFormat::tsv, {.name = "f.txt"});
  EXPECT_EQ(error_of([&] { require_column(table, "label", "--label_column_name"); }),
            "f.txt:1: no column 'label': it has text,label; say which one with --label_column_name; if the "
            "file has "
            "commas, name it .csv");
}

}  // namespace
}  // namespace ranktune::data
