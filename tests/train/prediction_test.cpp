#include "ranktune/train/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace ranktune::train {
namespace {

using testing::ElementsAre;

std::string table_text(const data::Table& table, const std::vector<float>& logits,
                       const std::vector<std::string>& labels, std::int64_t top_k, bool scores) {
  std::ostringstream out;
  write_table(out, table.format(), true,
              {.table = table, .logits = logits, .labels = labels, .top_k = top_k, .scores = scores});
  return out.str();
}

std::string lines_text(const data::Table& table, const std::vector<float>& logits,
                       const std::vector<std::string>& labels, std::int64_t top_k, bool scores) {
  std::ostringstream out;
  write_lines(out, {.table = table, .logits = logits, .labels = labels, .top_k = top_k, .scores = scores});
  return out.str();
}

const std::vector<std::string> kMoods = {"sad", "glad", "calm"};
const std::vector<float> kTwoRows = {0, 2, 1, 3, 0, -1};
// scipy.special.softmax of the rows: 0.09003057, 0.66524096, 0.24472847 and 0.93623955, 0.04661262,
// 0.01714783

TEST(Probabilities, AreTheSoftmaxToSixDigits) {
  const std::vector<float> logits = {0, 2, 1};
  EXPECT_THAT(probabilities_of(logits), ElementsAre(0.0900306, 0.665241, 0.244728));
  const std::vector<float> huge = {1000, 0};
  EXPECT_THAT(probabilities_of(huge), ElementsAre(1.0, 0.0));
}

TEST(BestFirst, SortsByLogitAndThenByPlace) {
  const std::vector<float> logits = {1, 3, 2, 3};
  EXPECT_THAT(best_first(logits, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(best_first(logits, 9), ElementsAre(1, 3, 2, 0));
}

TEST(WriteTable, AddsLabelAndScoreToACsv) {
  const data::Table table = data::parse_table("id,text\n1,fine\n2,\"a, b\"\n", data::TableFormat::csv);
  EXPECT_EQ(table_text(table, kTwoRows, kMoods, 1, false),
            "id,text,label,score\n1,fine,glad,0.665241\n2,\"a, b\",sad,0.93624\n");
}

TEST(WriteTable, AddsTheNextBestLabels) {
  const data::Table table = data::parse_table("text\nfine\nbad\n", data::TableFormat::csv);
  EXPECT_EQ(table_text(table, kTwoRows, kMoods, 2, false),
            "text,label,score,label_2,score_2\n"
            "fine,glad,0.665241,calm,0.244728\n"
            "bad,sad,0.93624,glad,0.0466126\n");
}

TEST(WriteTable, GivesJsonLinesAScoresObject) {
  const data::Table table =
      data::parse_table("{\"text\": \"fine\", \"n\": 1.50}\n", data::TableFormat::json_lines);
  EXPECT_EQ(table_text(table, {0, 2, 1}, kMoods, 1, true),
            "{\"text\": \"fine\", \"n\": 1.50, \"label\": \"glad\", \"score\": 0.665241, "
            "\"scores\": {\"sad\": 0.0900306, \"glad\": 0.665241, \"calm\": 0.244728}}\n");
}

TEST(WriteTable, GivesCsvAColumnForEachScore) {
  const data::Table table = data::parse_table("text\nfine\n", data::TableFormat::csv);
  EXPECT_EQ(table_text(table, {0, 2, 1}, kMoods, 1, true),
            "text,label,score,scores.sad,scores.glad,scores.calm\nfine,glad,0.665241,0.0900306,0.665241,0."
            "244728\n");
}

TEST(WriteTable, HasOneColumnForARegression) {
  const data::Table table = data::parse_table("text\nfine\nbad\n", data::TableFormat::csv);
  EXPECT_EQ(table_text(table, {0.5F, -2}, {}, 1, true), "text,prediction\nfine,0.5\nbad,-2.0\n");
}

TEST(WriteLines, ShowsLabelProbabilityAndText) {
  const data::Table table = data::table_of_texts({"so fine", "two\nlines"}, "command line");
  EXPECT_EQ(lines_text(table, kTwoRows, kMoods, 1, false), "glad\t0.6652\tso fine\nsad\t0.9362\ttwo lines\n");
  EXPECT_EQ(lines_text(table, kTwoRows, kMoods, 2, true),
            "glad\t0.6652\tcalm\t0.2447\tsad=0.0900\tglad=0.6652\tcalm=0.2447\tso fine\n"
            "sad\t0.9362\tglad\t0.0466\tsad=0.9362\tglad=0.0466\tcalm=0.0171\ttwo lines\n");
  EXPECT_EQ(lines_text(table, {0.5F, -2}, {}, 1, false), "0.500\tso fine\n-2.000\ttwo lines\n");
}

}  // namespace
}  // namespace ranktune::train
