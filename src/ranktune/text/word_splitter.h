#pragma once

#include <array>
#include <string_view>

#include "ranktune/core/utf8.h"
#include "ranktune/text/character_table.h"

namespace ranktune::text {

/// Cuts text into words as BertPreTokenizer does: white space goes, each punctuation mark is a word.
class WordSplitter {
 public:
  /// LIFETIME: `table` must outlive this object.
  explicit WordSplitter(const CharacterTable& table) : table_(table) {
    for (char32_t c = 0; c < 128; ++c) kinds_[c] = kind(table.bits(c));
    for (std::size_t byte = 128; byte < kinds_.size(); ++byte) kinds_[byte] = Kind::kDecode;
  }

  /// Calls visit(word) for each word, in order, until it returns false. REQUIRES: well-formed UTF-8.
  template <class Visit>
  void split(std::string_view text, Visit&& visit) const {
    std::size_t word = 0;  // where the current word starts
    std::size_t next = 0;
    while (next < text.size()) {
      const std::size_t here = next;
      Kind found = kinds_[static_cast<unsigned char>(text[next])];
      if (found == Kind::kDecode) {
        found = kind(table_.bits(core::next_code_point(text, next)));
      } else {
        ++next;
      }
      if (found == Kind::kWord) continue;
      if (here > word && !visit(text.substr(word, here - word))) return;
      if (found == Kind::kPunctuation && !visit(text.substr(here, next - here))) return;
      word = next;
    }
    if (next > word) visit(text.substr(word));
  }

 private:
  enum class Kind : std::uint8_t { kWord, kSpace, kPunctuation, kDecode };

  static Kind kind(std::uint8_t bits) {
    if (bits & kSpace) return Kind::kSpace;
    return bits & kPunctuation ? Kind::kPunctuation : Kind::kWord;
  }

  const CharacterTable& table_;
  std::array<Kind, 256> kinds_{};  // by the first byte of a character
};

}  // namespace ranktune::text
