#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranktune::text {

/// What the tokenizer asks about one code point, as bits.
enum CharacterBits : std::uint8_t {
  kRemoved = 1U << 0U,       ///< clean_text drops it
  kSpace = 1U << 1U,         ///< white space
  kCjk = 1U << 2U,           ///< handle_chinese_chars puts spaces around it
  kPunctuation = 1U << 3U,   ///< a word of its own
  kWordPart = 1U << 4U,      ///< part of a word beside an added token
  kStripChanges = 1U << 5U,  ///< strip_accents makes something else of it
  kLowerChanges = 1U << 6U,  ///< it has a lower-case form
  kMoving = 1U << 7U,  ///< a combining mark with a place in canonical order: marks around it pass across
};

/// A few code points: the result of mapping one.
struct Mapped {
  std::array<char32_t, 3> code_points{};
  std::size_t size = 0;
};

/// The generated character data (unicode_tables.h) in a form where one look-up is two loads.
/// Immutable after construction, which takes about 50 microseconds.
class CharacterTable {
 public:
  CharacterTable();

  /// CharacterBits of one code point. REQUIRES: code_point <= U+10FFFF.
  std::uint8_t bits(char32_t code_point) const {
    return pages_[page_start_[code_point / kPageSize] + code_point % kPageSize];
  }

  /// NFD without the marks that strip_accents drops. REQUIRES: kStripChanges.
  static Mapped strip(char32_t code_point);

  /// REQUIRES: kLowerChanges.
  static Mapped lower(char32_t code_point);

  /// Where a mark that strip() left goes among its neighbours: ascending; 0 for all that does not move.
  static std::uint8_t order(char32_t code_point);

 private:
  static constexpr std::size_t kPageSize = 256;
  static constexpr std::size_t kCodePoints = 0x110000;

  std::array<std::uint32_t, kCodePoints / kPageSize> page_start_;
  std::vector<std::uint8_t> pages_;
};

}  // namespace ranktune::text
