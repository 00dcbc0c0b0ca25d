#include "ranktune/data/tokenized_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "data/support.h"

namespace ranktune::data {
namespace {

using testing::ElementsAre;
using tests::error_of;

/// A token is a byte; 1 stands for the start, 2 for the end of a text; "!" cannot be encoded.
class ByteTokenizer final : public text::Tokenizer {
 public:
  void encode(std::string_view text, std::optional<std::string_view> pair, std::int64_t max_length,
              text::Encoding& out) const override {
    out = {};
    put(1, 0, out);
    for (const char letter : text) put(letter, 0, out);
    put(2, 0, out);
    if (pair) {
      for (const char letter : *pair) put(letter, 1, out);
      put(2, 1, out);
    }
    out.ids.resize(std::min<std::size_t>(out.ids.size(), max_length));
    out.type_ids.resize(out.ids.size());
  }
  std::int64_t vocab_size() const override { return 256; }
  std::optional<std::int64_t> model_max_length() const override { return std::nullopt; }

 private:
  static void put(std::int32_t id, std::int32_t type, text::Encoding& out) {
    if (id == '!') throw DataError({"row"}, "cannot be encoded");
    out.ids.push_back(id);
    out.type_ids.push_back(type);
  }
};

std::vector<std::string> many_texts() {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(i % 17, 'a') + std::to_string(i));
  return texts;
}

TEST(TokenizeSplit, RowsLieEndToEnd) {
  const std::vector<std::string_view> texts = {"ab", "", "c"};
  const TokenizedSplit split = tokenize_split(ByteTokenizer(), texts, {}, {});
  EXPECT_THAT(split.ids, ElementsAre(1, 'a', 'b', 2, 1, 2, 1, 'c', 2));
  EXPECT_THAT(split.offsets, ElementsAre(0, 4, 6, 9));
  EXPECT_THAT(split.lengths(), ElementsAre(4, 2, 3));
  EXPECT_THAT(split.row_ids(2), ElementsAre(1, 'c', 2));
  EXPECT_EQ(split.rows(), 3);
  EXPECT_EQ(split.tokens(), 9);
}

TEST(TokenizeSplit, PairsHaveSegmentIds) {
  const std::vector<std::string_view> first = {"a"}, second = {"bc"};
  const TokenizedSplit split = tokenize_split(ByteTokenizer(), first, second, {});
  EXPECT_THAT(split.row_ids(0), ElementsAre(1, 'a', 2, 'b', 'c', 2));
  EXPECT_THAT(split.row_type_ids(0), ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(TokenizeSplit, DoesNotDependOnThreads) {
  const std::vector<std::string> owned = many_texts();
  const std::vector<std::string_view> texts(owned.begin(), owned.end());
  const TokenizedSplit one = tokenize_split(ByteTokenizer(), texts, texts, {.threads = 1});
  for (const std::int64_t threads : {0, 2, 3, 100}) {
    const TokenizedSplit many = tokenize_split(ByteTokenizer(), texts, texts, {.threads = threads});
    EXPECT_EQ(many.ids, one.ids);
    EXPECT_EQ(many.type_ids, one.type_ids);
    EXPECT_EQ(many.offsets, one.offsets);
  }
}

TEST(TokenizeSplit, ReportsProgressOnTheCallingThread) {
  const std::vector<std::string> owned = many_texts();
  const std::vector<std::string_view> texts(owned.begin(), owned.end());
  std::vector<std::int64_t> seen;
  TokenizeOptions options{.threads = 2};
  options.progress = [&seen](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 1000);
    seen.push_back(done);
  };
  tokenize_split(ByteTokenizer(), texts, {}, options);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1000);
}

TEST(TokenizeSplit, ErrorsOfTheTokenizerReachTheCaller) {
  for (const int bad_row : {0, 500, 999}) {
    std::vector<std::string> owned = many_texts();
    owned[bad_row] = "!";
    const std::vector<std::string_view> texts(owned.begin(), owned.end());
    EXPECT_EQ(error_of([&] { tokenize_split(ByteTokenizer(), texts, {}, {.threads = 3}); }),
              "row: cannot be encoded");
  }
}

TEST(TokenizeSplit, LengthMustLeaveRoomForText) {
  const std::vector<std::string_view> texts = {"a"};
  EXPECT_EQ(error_of([&] { tokenize_split(ByteTokenizer(), texts, {}, {.max_length = 2}); }),
            "--max_seq_length 2 leaves no room for text beside 2 special tokens: use 128, say");
  EXPECT_THROW(tokenize_split(ByteTokenizer(), texts, texts, {.max_length = 3}), UsageError);
  EXPECT_EQ(tokenize_split(ByteTokenizer(), texts, {}, {.max_length = 3}).tokens(), 3);
}

TEST(TokenizeSplit, NoRows) {
  const TokenizedSplit split = tokenize_split(ByteTokenizer(), {}, {}, {});
  EXPECT_EQ(split.rows(), 0);
  EXPECT_EQ(split.tokens(), 0);
}

}  // namespace
}  // namespace ranktune::data
