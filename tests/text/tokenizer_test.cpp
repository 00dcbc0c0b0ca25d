// What the tokenizer does, on vocabularies of a few words. The expected ids come from the `tokenizers`
// package.
#include <gtest/gtest.h>

#include <future>
#include <numeric>

#include "text/small_tokenizer.h"

namespace ranktune::text {
namespace {

using tests::encode;
using tests::Ids;
using tests::inner_ids;
using tests::load;
using tests::small_tokenizer_json;

TEST(Tokenizer, CutsWordsIntoTheLongestPieces) {
  const auto tokenizer = load(small_tokenizer_json({"play", "##ing", "##in", "##g", "playing", "##er", "s"}));
  EXPECT_EQ(inner_ids(*tokenizer, "play playing player"), (Ids{4, 8, 4, 9}));
  EXPECT_EQ(inner_ids(*tokenizer, "playin playgg"), (Ids{4, 6, 4, 7, 7}));
  EXPECT_EQ(inner_ids(*tokenizer, "plays s"), (Ids{1, 10})) << "one piece missing makes the word unknown";
  EXPECT_EQ(inner_ids(*tokenizer, "##ing"), (Ids{1, 1, 1})) << "# is punctuation";
  EXPECT_EQ(inner_ids(*tokenizer, ""), Ids{});
  EXPECT_EQ(inner_ids(*tokenizer, " \t\n "), Ids{});
}

TEST(Tokenizer, NormalizesAsBertDoes) {
  const auto tokenizer =
      load(small_tokenizer_json({"cafe", "i", "##s", "中", "##中", "ss", "ß", "ᄒ", "##ᅡ", "a"}));
  EXPECT_EQ(inner_ids(*tokenizer, "CAFÉ Cafe\u0301"), (Ids{4, 4}));
  EXPECT_EQ(inner_ids(*tokenizer, "İS"), (Ids{5, 6}));
  EXPECT_EQ(inner_ids(*tokenizer, "a中中a"), (Ids{13, 7, 7, 13}));
  EXPECT_EQ(inner_ids(*tokenizer, "ẞ"), (Ids{10}));
  EXPECT_EQ(inner_ids(*tokenizer, "하"), (Ids{11, 12})) << "NFD takes syllables apart";
  EXPECT_EQ(inner_ids(*tokenizer, std::string_view("ca\0\u200Bf\x07"
                                                   "e\u00A0i",
                                                   12)),
            (Ids{4, 5}));
}

TEST(Tokenizer, ObeysTheNormalizerOptions) {
  auto file = small_tokenizer_json({"é", "É", "e", "E", "中中"});
  file["normalizer"]["lowercase"] = false;
  EXPECT_EQ(inner_ids(*load(file), "É é"), (Ids{5, 4})) << "accents stay when nothing is lower-cased";
  file["normalizer"]["strip_accents"] = true;
  EXPECT_EQ(inner_ids(*load(file), "É é"), (Ids{7, 6}));
  file["normalizer"]["lowercase"] = true;
  file["normalizer"]["strip_accents"] = false;
  EXPECT_EQ(inner_ids(*load(file), "É é"), (Ids{4, 4}));
  EXPECT_EQ(inner_ids(*load(file), "中中"), (Ids{1, 1}));
  file["normalizer"]["handle_chinese_chars"] = false;
  EXPECT_EQ(inner_ids(*load(file), "中中"), (Ids{8}));
  EXPECT_EQ(inner_ids(*load(file), "e\u200B"), (Ids{6}));
  file["normalizer"]["clean_text"] = false;
  EXPECT_EQ(inner_ids(*load(file), "e\u200B"), (Ids{1}));
  file["normalizer"] = nullptr;
  EXPECT_EQ(inner_ids(*load(file), "É é E"), (Ids{5, 4, 7}));
}

TEST(Tokenizer, LongWordsAreUnknown) {
  auto file = small_tokenizer_json({"é", "##é"});
  file["model"]["max_input_chars_per_word"] = 4;
  file["normalizer"]["strip_accents"] = false;
  const auto tokenizer = load(file);
  EXPECT_EQ(inner_ids(*tokenizer, "éééé"), (Ids{4, 5, 5, 5})) << "characters count, not bytes";
  EXPECT_EQ(inner_ids(*tokenizer, "ééééé"), (Ids{1}));
}

TEST(Tokenizer, PairsHaveTwoSegments) {
  const auto tokenizer = load(small_tokenizer_json({"a", "b"}));
  const Encoding pair = encode(*tokenizer, "a a", "b");
  EXPECT_EQ(pair.ids, (Ids{2, 4, 4, 3, 5, 3}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(encode(*tokenizer, "a", "").ids, (Ids{2, 4, 3, 3}));
  EXPECT_EQ(encode(*tokenizer, "a").type_ids, (Ids{0, 0, 0}));
}

std::string repeat(const char* word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word;
  return text;
}

TEST(Tokenizer, TruncatesAPairLongestFirst) {
  const auto tokenizer = load(small_tokenizer_json({"a", "b"}));
  struct Case {
    int first, second, kept_first, kept_second;
  };
  // With room for 7: what the package keeps of each. An odd token stays with the longer one, or the second of
  // equals.
  for (const Case& c : {Case{2, 5, 2, 5},
                        {2, 9, 2, 5},
                        {9, 2, 5, 2},
                        {3, 5, 3, 4},
                        {5, 3, 4, 3},
                        {4, 4, 3, 4},
                        {5, 4, 4, 3},
                        {8, 5, 4, 3},
                        {5, 8, 3, 4},
                        {8, 8, 3, 4},
                        {9, 8, 4, 3},
                        {0, 9, 0, 7}}) {
    const Encoding encoding = encode(*tokenizer, repeat("a ", c.first), repeat("b ", c.second), 10);
    EXPECT_EQ(std::ranges::count(encoding.ids, 4), c.kept_first) << c.first << ' ' << c.second;
    EXPECT_EQ(std::ranges::count(encoding.ids, 5), c.kept_second) << c.first << ' ' << c.second;
    EXPECT_EQ(encoding.ids.size(), encoding.type_ids.size());
  }
}

TEST(Tokenizer, TruncatesOneText) {
  const auto tokenizer = load(small_tokenizer_json({"a", "##b", "c"}));
  EXPECT_EQ(encode(*tokenizer, "abbb c", std::nullopt, 5).ids, (Ids{2, 4, 5, 5, 3}));
  EXPECT_EQ(encode(*tokenizer, "c a", std::nullopt, 4).ids, (Ids{2, 6, 4, 3}));
  EXPECT_EQ(encode(*tokenizer, "c a", std::nullopt, 2).ids, (Ids{2, 3}));
  EXPECT_EQ(encode(*tokenizer, "c", "a", 3).ids, (Ids{2, 3, 3}));
  EXPECT_EQ(encode(*tokenizer, repeat("c ", 1000), std::nullopt, 512).ids.size(), 512U);
}

TEST(Tokenizer, TruncatesOnTheLeftWhenTheConfigSaysSo) {
  const tests::TemporaryFolder folder;
  folder.file("tokenizer.json", small_tokenizer_json({"a", "b", "c", "d"}).dump());
  folder.file("tokenizer_config.json", R"({"truncation_side": "left", "model_max_length": 512})");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(encode(*tokenizer, "a b c d", std::nullopt, 4).ids, (Ids{2, 6, 7, 3}));
  EXPECT_EQ(encode(*tokenizer, "a b", "a c d", 6).ids, (Ids{2, 5, 3, 6, 7, 3}));
  EXPECT_EQ(tokenizer->model_max_length(), 512);
}

TEST(Tokenizer, SpecialTokensInTheTextAreFound) {
  const auto tokenizer = load(small_tokenizer_json({"a", "b"}));
  EXPECT_EQ(inner_ids(*tokenizer, "a[SEP]b [CLS]"), (Ids{4, 3, 5, 2}));
  EXPECT_EQ(inner_ids(*tokenizer, "[sep]"), (Ids{1, 1, 1})) << "they are not normalized";
  EXPECT_EQ(inner_ids(*tokenizer, "[[SEP]] [SE"), (Ids{1, 3, 1, 1, 1}));
}

nlohmann::json with_added_token(const std::string& content,
                                const nlohmann::json& flags = nlohmann::json::object()) {
  auto file = small_tokenizer_json({"a", "b", "foo"});
  nlohmann::json token = {{"id", 7},         {"content", content},  {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", false}};
  token.update(flags);
  file["added_tokens"].push_back(token);
  return file;
}

TEST(Tokenizer, AddedTokensGetTheNextIdAndAreFoundAnywhere) {
  const auto tokenizer = load(with_added_token("Foo-1"));
  EXPECT_EQ(tokenizer->vocab_size(), 8);
  EXPECT_EQ(inner_ids(*tokenizer, "aFoo-1b"), (Ids{4, 7, 5}));
  EXPECT_EQ(inner_ids(*tokenizer, "FOO-1"), (Ids{6, 1, 1}));
  EXPECT_EQ(inner_ids(*load(with_added_token("foo")), "afoob foo"), (Ids{4, 6, 5, 6}))
      << "it has its id already";
}

TEST(Tokenizer, AddedTokensMayBeNormalized) {
  const auto tokenizer = load(with_added_token("FÓO B", {{"normalized", true}}));
  EXPECT_EQ(inner_ids(*tokenizer, "afoo b"), (Ids{4, 7}));
  EXPECT_EQ(inner_ids(*tokenizer, "FOO\tB a"), (Ids{7, 4}));
  EXPECT_EQ(inner_ids(*tokenizer, "foo  b"), (Ids{6, 5}));
}

TEST(Tokenizer, AddedTokensMayStandAloneOrTakeSpace) {
  const auto single = load(with_added_token("@@", {{"single_word", true}}));
  EXPECT_EQ(inner_ids(*single, "a@@ @@ (@@)"), (Ids{4, 1, 1, 7, 1, 7, 1}));
  EXPECT_EQ(inner_ids(*single, "@@@@ @@@"), (Ids{7, 7, 7, 1}));
  EXPECT_EQ(inner_ids(*single, "@@_ é@@ @@"), (Ids{1, 1, 1, 1, 1, 1, 7}));
  // The space that @@ takes is no piece of the next token.
  const auto strip = load(with_added_token("@@", {{"lstrip", true}, {"rstrip", true}}));
  EXPECT_EQ(inner_ids(*strip, "a \u3000@@  b"), (Ids{4, 7, 5}));
  auto file = with_added_token("@@", {{"rstrip", true}});
  auto spaced = file["added_tokens"].back();
  spaced["content"] = " b";
  spaced["id"] = 8;
  file["added_tokens"].push_back(spaced);
  EXPECT_EQ(inner_ids(*load(file), "@@ ba b"), (Ids{7, 8, 4, 8}));
}

TEST(Tokenizer, OrdersTheMarksThatStay) {
  // U+302E (class 224) stays, U+1DFB (class 230 there) stays too: behind it whatever the text has.
  const auto tokenizer =
      load(small_tokenizer_json({"a\u302E\u1DFB", "a", "##\u0301", "##\u302E", "##\u1DFB"}));
  EXPECT_EQ(inner_ids(*tokenizer, "a\u1DFB\u302E"), (Ids{4}));
  EXPECT_EQ(inner_ids(*tokenizer, "a\u1DFB\u0301\u302E"), (Ids{4}))
      << "a mark that goes does not stand between";
  EXPECT_EQ(inner_ids(*tokenizer, "a\u1DFB\u034F\u302E"), (Ids{5, 8, 7})) << "a joiner that goes does";
}

TEST(Tokenizer, ServesSeveralThreads) {
  const auto tokenizer = load(small_tokenizer_json({"a", "##b", "c"}));
  const auto work = [&] {
    for (int i = 0; i < 2000; ++i)
      if (inner_ids(*tokenizer, "abb É c [SEP]") != (Ids{4, 5, 5, 1, 6, 3})) return false;
    return true;
  };
  std::vector<std::future<bool>> threads;
  for (int i = 0; i < 3; ++i) threads.push_back(std::async(std::launch::async, work));
  for (auto& thread : threads) EXPECT_TRUE(thread.get());
}

}  // namespace
}  // namespace ranktune::text
