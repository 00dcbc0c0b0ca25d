#pragma once

#include <array>
#include <cstdint>
#include <span>

/// The generated character data; character_table.h is what the other files use.
/// All lists ascend by code point, except kRanks.
namespace ranktune::text::tables {

/// Both ends belong to the range.
struct Range {
  char32_t first, last;
};

/// first, first + step, ..., last: the lower-case letter stands `distance` further on.
struct LowerRun {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t distance;
};

/// One code point that becomes two or three; 0 fills up.
struct Expansion {
  char32_t from;
  std::array<char32_t, 3> to;
};

/// Consecutive code points whose results stand in kStripResults from `index` on.
struct StripRun {
  char32_t first, last;
  std::uint32_t index;
};

/// Marks that survive strip_accents, with the order into which NFD puts them.
struct Rank {
  char32_t first, last;
  std::uint8_t rank;
};

extern const std::span<const Range> kRemoved;
extern const std::span<const Range> kSpaces;
extern const std::span<const Range> kCjk;
extern const std::span<const Range> kPunctuation;
extern const std::span<const Range> kWords;
extern const std::span<const LowerRun> kLower;
extern const std::span<const Expansion> kLowerExpansions;
extern const std::span<const Range> kStrippedMarks;
extern const std::span<const StripRun> kStripRuns;
extern const std::span<const char32_t> kStripResults;
extern const std::span<const Expansion> kStripExpansions;
extern const std::span<const Range> kMoving;
extern const std::span<const Rank> kRanks;

}  // namespace ranktune::text::tables
