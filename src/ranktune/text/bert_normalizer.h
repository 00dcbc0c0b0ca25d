#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranktune/text/character_table.h"

namespace ranktune::text {

/// The fields of tokenizer.json's BertNormalizer.
struct BertNormalizerOptions {
  bool clean_text = true;             ///< drop control characters, make every white space a space
  bool handle_chinese_chars = true;   ///< put spaces around CJK characters
  std::optional<bool> strip_accents;  ///< absent: as lowercase says
  bool lowercase = true;
};

/// Changes text as BertNormalizer does, code point by code point, in one pass.
class BertNormalizer {
 public:
  /// LIFETIME: `table` must outlive this object.
  BertNormalizer(const CharacterTable& table, const BertNormalizerOptions& options);

  /// Appends the normalized text to `out`. REQUIRES: well-formed UTF-8.
  void normalize(std::string_view text, std::string& out) const;

 private:
  /// Marks that wait for their place: what follows may have to go before them.
  using Marks = std::vector<std::pair<std::uint8_t, char32_t>>;

  std::size_t append_ascii(std::string_view text, std::string& out) const;
  void append(char32_t code_point, std::string& out, Marks& marks) const;
  void append_stripped(char32_t code_point, std::uint8_t bits, std::string& out, Marks& marks) const;
  void append_lowered(char32_t code_point, std::string& out) const;
  void flush(Marks& marks, std::string& out) const;

  const CharacterTable& table_;
  bool clean_text_, handle_chinese_chars_, strip_accents_, lowercase_;
  struct Ascii {
    char text = 0;
    bool kept = true;
  };
  std::array<Ascii, 128> ascii_{};
};

}  // namespace ranktune::text
