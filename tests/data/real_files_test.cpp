#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/support.h"
#include "ranktune/data/columns.h"
#include "ranktune/data/labels.h"
#include "ranktune/data/split.h"
#include "ranktune/data/table.h"

/// Published data sets with the oddities of real files. The expected numbers were made with pandas 3.1 (CSV:
/// read_csv(dtype=str, keep_default_na=False); TSV: also sep="\t", quoting=3) and agree with Python's csv
/// module; for the checksum see data/support.h.
namespace ranktune::data {
namespace {

using testing::StartsWith;
using tests::checksum;
using tests::RecordingLogger;
using tests::Strings;

class RealFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no data sets in " << folder_;
  }

  Table read(const std::string& name, bool header = true) const {
    return read_table(folder_ / name, {.header = header, .name = name});
  }

  /// The labels that a training file and a validation file give together.
  LabelScheme labels(const Table& train, const Table& validation, const std::string& column) {
    return infer_labels({train, require_column(train, column, "")},
                        LabelColumn{validation, require_column(validation, column, "")}, logger_);
  }

  std::vector<std::string> text_columns(const Table& table, const std::string& label_column) {
    return choose_text_columns(table, {}, std::nullopt, label_column, logger_).names;
  }

  std::filesystem::path folder_ = std::filesystem::path(RANKTUNE_SHARED_DIR) / "data";
  RecordingLogger logger_;
};

TEST_F(RealFiles, Sst2) {
  const Table train = read("sst2/train.tsv");
  const Table dev = read("sst2/dev.tsv");
  EXPECT_EQ(train.rows(), 67349);
  EXPECT_EQ(dev.rows(), 872);
  EXPECT_EQ(train.cell(0, 0).text, "hide new secretions from the parental units ");
  EXPECT_THAT(std::string(dev.cell(0, 0).text), StartsWith("it 's a charming and often affecting journey ."));
  EXPECT_EQ(train.line(67348), 67350);
  EXPECT_EQ(checksum(train, "sentence"), 0x62528994895fb12aU);
  EXPECT_EQ(checksum(train, "label"), 0x1f051856976ea732U);
  EXPECT_EQ(checksum(dev, "sentence"), 0x5718aa247cb186d0U);
  EXPECT_EQ(checksum(dev, "label"), 0x74e9e8e0215a857dU);
  EXPECT_EQ(labels(train, dev, "label").labels.names(), (Strings{"0", "1"}));
  EXPECT_EQ(text_columns(train, "label"), (Strings{"sentence"}));
}

TEST_F(RealFiles, Banking77HasLineBreaksInCells) {
  const Table train = read("banking77/train.csv");
  const Table test = read("banking77/test.csv");
  EXPECT_EQ(train.rows(), 10003);
  EXPECT_EQ(test.rows(), 3080);
  EXPECT_EQ(train.line(10002), 10017);
  EXPECT_EQ(train.cell(0, 0).text, "I am still waiting on my card?");
  EXPECT_EQ(train.cell(10002, 1).text, "country_support");
  EXPECT_EQ(checksum(train, "text"), 0x550149278ba5151U);
  EXPECT_EQ(checksum(train, "category"), 0x2aa4478c45292fc1U);
  EXPECT_EQ(checksum(test, "text"), 0x396d76b72e53ef80U);
  EXPECT_EQ(checksum(test, "category"), 0x3ea21aa2afa4c53dU);
  const LabelScheme scheme = labels(train, test, "category");
  EXPECT_EQ(scheme.labels.size(), 77);
  EXPECT_EQ(scheme.labels.names().front(), "Refund_not_showing_up");  // capitals sort first
  EXPECT_EQ(scheme.labels.names().back(), "wrong_exchange_rate_for_cash_withdrawal");
}

TEST_F(RealFiles, SmsSpamHasNoHeader) {
  const Table table = read("sms_spam/sms.tsv", false);
  EXPECT_EQ(table.rows(), 5574);
  EXPECT_EQ(table.column_names(), (Strings{"0", "1"}));
  EXPECT_EQ(table.cell(5573, 1).text, "Rofl. Its true to its name");
  EXPECT_EQ(checksum(table, "0"), 0xbca657e05ddb81dcU);
  EXPECT_EQ(checksum(table, "1"), 0xe6ec920d60f4128cU);
  EXPECT_EQ(text_columns(table, "0"), (Strings{"1"}));
  EXPECT_EQ(labels(table, table, "0").labels.names(), (Strings{"ham", "spam"}));
}

TEST_F(RealFiles, AirlineTweetsHaveCrlfAndEmptyCells) {
  const Table table = read("messy_csv/airline_tweets/Tweets.csv");
  EXPECT_EQ(table.rows(), 14640);
  EXPECT_EQ(table.column_names().size(), 8U);
  EXPECT_EQ(table.cell(0, 0).text, "5.70306E+17");
  EXPECT_EQ(checksum(table, "text"), 0xb0ae9c12ad8b97c9U);
  EXPECT_EQ(checksum(table, "tweet_coord"), 0xb880382217e0e24cU);
  EXPECT_EQ(checksum(table, "tweet_location"), 0x94b32d8d84b36f22U);
  EXPECT_EQ(checksum(table, "user_timezone"), 0x7194d6910d85ae6dU);
  EXPECT_EQ(text_columns(table, "airline_sentiment"), (Strings{"text"}));
  EXPECT_EQ(labels(table, table, "airline_sentiment").labels.names(),
            (Strings{"negative", "neutral", "positive"}));
}

TEST_F(RealFiles, SmsSpamOfKaggleHasColumnsWithoutName) {
  const Table table = read("messy_csv/sms_spam_kaggle/spam.csv");
  EXPECT_EQ(table.rows(), 5572);
  EXPECT_EQ(table.column_names(), (Strings{"v1", "v2", "Unnamed: 2", "Unnamed: 3", "Unnamed: 4"}));
  EXPECT_EQ(checksum(table, "v1"), 0x214abef1c67e472cU);
  EXPECT_EQ(checksum(table, "v2"), 0xab236b691bcc3ad0U);
  EXPECT_EQ(checksum(table, "Unnamed: 2"), 0x93568bf0d12ac90U);
  EXPECT_EQ(checksum(table, "Unnamed: 4"), 0x16df1319698dbb51U);
  EXPECT_EQ(text_columns(table, "v1"), (Strings{"v2"}));
}

TEST_F(RealFiles, MrpcHasAByteOrderMarkAndUnbalancedQuotes) {
  const Table train = read("mrpc/train.tsv");
  EXPECT_EQ(train.rows(), 3667);
  EXPECT_EQ(train.column_names(), (Strings{"Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"}));
  EXPECT_EQ(checksum(train, "Quality"), 0x50a54876b6b131aeU);
  EXPECT_EQ(checksum(train, "#1 String"), 0x7f9ec0900ff86452U);
  EXPECT_EQ(checksum(train, "#2 String"), 0xd55f7c563003b0a2U);
  EXPECT_EQ(checksum(read("mrpc/dev.tsv"), "#2 String"), 0x6067e221c02d90d0U);
  const Table test = read("mrpc/msr_paraphrase_test.txt");
  EXPECT_EQ(test.rows(), 1725);
  EXPECT_EQ(checksum(test, "#1 String"), 0x8fef34fb66fc2a6aU);
  EXPECT_EQ(text_columns(train, "Quality"), (Strings{"#1 String", "#2 String"}));
}

TEST_F(RealFiles, RteIsAPair) {
  const Table train = read("rte/train.tsv");
  const Table dev = read("rte/dev.tsv");
  EXPECT_EQ(train.rows(), 2490);
  EXPECT_EQ(dev.rows(), 277);
  EXPECT_EQ(checksum(train, "sentence1"), 0x5e62bbe40f8e249dU);
  EXPECT_EQ(checksum(train, "sentence2"), 0xe6aa18f2ec650da5U);
  EXPECT_EQ(checksum(dev, "label"), 0xc47847cd10d8e598U);
  EXPECT_EQ(labels(train, dev, "label").labels.names(), (Strings{"entailment", "not_entailment"}));
  EXPECT_EQ(text_columns(train, "label"), (Strings{"sentence1", "sentence2"}));
}

TEST_F(RealFiles, StsbIsARegression) {
  const Table train = read("stsb/train.tsv");
  const Table dev = read("stsb/dev.tsv");
  EXPECT_EQ(train.rows(), 5749);
  EXPECT_EQ(dev.rows(), 1500);
  EXPECT_EQ(checksum(train, "sentence2"), 0x879ab1bbad0ee38U);
  EXPECT_EQ(checksum(train, "score"), 0xe5c47a8e896cc295U);
  const LabelScheme scheme = labels(train, dev, "score");
  EXPECT_EQ(scheme.kind, TaskKind::regression);
  const TextColumns text = choose_text_columns(train, {}, std::nullopt, "score", logger_);
  const SplitData split = load_split(
      train, {.text = text, .label_column = "score", .scheme = &scheme, .max_samples = {}}, logger_);
  EXPECT_EQ(split.first.back(), "Putin spokesman: Doping charges appear unfounded");
  EXPECT_EQ(split.targets.front(), 5.0F);
  EXPECT_EQ(split.targets[1], 3.8F);
}

TEST_F(RealFiles, ColaAndAgNewsHaveNoHeader) {
  const Table cola = read("cola/train.tsv", false);
  EXPECT_EQ(cola.rows(), 8551);
  EXPECT_EQ(checksum(cola, "2"), 0x14c6ea0c10daeefaU);
  EXPECT_EQ(checksum(cola, "3"), 0xa9fda4721c62323dU);
  const Table news = read("agnews/test.csv", false);
  EXPECT_EQ(news.rows(), 7600);
  EXPECT_EQ(checksum(news, "1"), 0x892ff0eed80503a6U);
  EXPECT_EQ(checksum(news, "2"), 0x2d57b7e1cc23dd42U);
}

}  // namespace
}  // namespace ranktune::data
