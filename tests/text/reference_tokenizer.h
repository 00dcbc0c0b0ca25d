#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ranktune/text/bert_normalizer.h"
#include "ranktune/text/wordpiece.h"

namespace ranktune::tests {

/// BERT's tokenizer as its description reads: one whole pass over the text per step, no tables by byte, no
/// trie. It shares only the character data with the real one.
class ReferenceTokenizer {
 public:
  ReferenceTokenizer(const text::Vocabulary& vocabulary, const text::WordPieceOptions& wordpiece,
                     const text::BertNormalizerOptions& normalizer);

  /// Ids of a text without added tokens in it; no special tokens around them.
  std::vector<std::int32_t> encode(std::string_view text) const;

  std::u32string normalize(std::u32string text) const;

 private:
  std::vector<std::u32string> split(const std::u32string& text) const;
  std::vector<std::int32_t> cut(const std::u32string& word) const;
  std::u32string strip_accents(const std::u32string& text) const;

  text::CharacterTable table_;
  std::unordered_map<std::string, std::int32_t> vocabulary_;
  text::WordPieceOptions wordpiece_;
  text::BertNormalizerOptions normalizer_;
};

std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(const std::u32string& text);

}  // namespace ranktune::tests
