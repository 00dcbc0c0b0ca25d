#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>

#include "ranktune/text/bert_tokenizer.h"
#include "text/reference_tokenizer.h"

namespace ranktune::text {
namespace {

/// Code points from where mistakes live: ASCII, Latin, Greek, combining marks, Indic marks, Hangul, CJK,
/// symbols, controls, spaces, and anything at all.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_(seed) {}

  std::u32string next() {
    std::u32string text(random_() % 40, U' ');
    for (char32_t& c : text) c = code_point();
    return text;
  }

 private:
  struct Block {
    char32_t first, last;
  };
  static constexpr std::array<Block, 20> kBlocks{
      {{'a', 'd'},       {'a', 'd'},         {'A', 'D'},         {0x00, 0x7F},       {' ', ' '},
       {0x80, 0x24F},    {0x300, 0x36F},     {0x370, 0x3FF},     {0x8D4, 0x8E1},     {0xC00, 0xD7F},
       {0x1DC0, 0x1EFF}, {0x2000, 0x206F},   {0x3000, 0x30FF},   {0x4E00, 0x4E40},   {0xAC00, 0xAC80},
       {0xF900, 0xFB06}, {0x1D15E, 0x1D172}, {0x1E000, 0x1E02A}, {0x1F600, 0x1F64F}, {0x00, 0x10FFFF}}};

  char32_t code_point() {
    const Block& block = kBlocks[random_() % kBlocks.size()];
    const auto c = static_cast<char32_t>(block.first + random_() % (block.last - block.first + 1));
    return c >= 0xD800 && c < 0xE000 ? U'\uFFFD' : c;
  }

  std::mt19937 random_;
};

/// A vocabulary in which every character that occurs in the texts is a piece, so that no difference hides in
/// [UNK].
Vocabulary make_vocabulary() {
  std::set<std::string> tokens{"[UNK]", "abc", "##bca", "##cc", "ab", "##d", "da"};
  RandomText texts(11);
  for (int i = 0; i < 2000; ++i) {
    for (const char32_t c : texts.next()) {
      tokens.insert(tests::encode_utf8({c}));
      tokens.insert("##" + tests::encode_utf8({c}));
    }
  }
  Vocabulary vocabulary;
  for (const std::string& token : tokens) vocabulary.emplace_back(token, vocabulary.size());
  return vocabulary;
}

TEST(RandomText, TokenizerAgreesWithTheReference) {
  BertTokenizerParts parts;
  parts.vocabulary = make_vocabulary();
  parts.post_processor = {{{TemplatePiece::Kind::kFirst, {}, 0}}, {}};
  parts.wordpiece.max_input_chars_per_word = 12;
  for (unsigned flags = 0; flags < 24; ++flags) {
    BertNormalizerOptions& options = parts.normalizer;
    options = {(flags & 1U) != 0, (flags & 2U) != 0, std::nullopt, (flags & 4U) != 0};
    if (flags / 8 > 0) options.strip_accents = flags / 8 == 1;
    const BertTokenizer tokenizer(parts);
    const tests::ReferenceTokenizer reference(parts.vocabulary, parts.wordpiece, options);
    RandomText texts(flags);
    Encoding encoding;
    std::size_t tokens = 0;
    for (int i = 0; i < 600; ++i) {
      const std::string text = tests::encode_utf8(texts.next());
      tokenizer.encode(text, std::nullopt, 1000, encoding);
      tokens += encoding.ids.size();
      ASSERT_EQ(encoding.ids, reference.encode(text))
          << "options " << flags << ", text " << i << ": " << text;
    }
    EXPECT_GT(tokens, 3000U);
  }
}

TEST(RandomText, NormalizerAgreesOnEveryCodePoint) {
  const CharacterTable table;
  const BertNormalizerOptions options;
  const BertNormalizer normalizer(table, options);
  const tests::ReferenceTokenizer reference({}, {}, options);
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::u32string text{U'X', c, U'Y'};
    std::string normalized;
    normalizer.normalize(tests::encode_utf8(text), normalized);
    ASSERT_EQ(normalized, tests::encode_utf8(reference.normalize(text)))
        << std::hex << static_cast<std::uint32_t>(c);
  }
}

}  // namespace
}  // namespace ranktune::text
