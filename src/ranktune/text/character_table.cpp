#include "ranktune/text/character_table.h"

#include <algorithm>
#include <map>
#include <span>

#include "ranktune/text/unicode_tables.h"

namespace ranktune::text {
namespace {

constexpr char32_t kFirstHangul = 0xAC00;
constexpr char32_t kHangulCount = 11172;

bool is_hangul(char32_t c) {
  return c >= kFirstHangul && c < kFirstHangul + kHangulCount;
}

/// Unicode standard, section 3.12: syllables are laid out by leading consonant, vowel, trailing consonant.
Mapped decompose_hangul(char32_t c) {
  const char32_t index = c - kFirstHangul;
  const char32_t trailing = index % 28;
  return {{0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + trailing}, trailing != 0 ? 3U : 2U};
}

/// The range that holds `c`, or nullptr. REQUIRES: rows ascend and do not overlap.
template <class Row>
const Row* find_range(std::span<const Row> rows, char32_t c) {
  const auto after = std::ranges::upper_bound(rows, c, {}, &Row::first);
  if (after == rows.begin() || std::prev(after)->last < c) return nullptr;
  return &*std::prev(after);
}

Mapped expand(std::span<const tables::Expansion> rows, char32_t c) {
  const auto row = std::ranges::lower_bound(rows, c, {}, &tables::Expansion::from);
  if (row == rows.end() || row->from != c) return {};
  return {row->to, row->to[2] != 0 ? 3U : 2U};
}

Mapped one(char32_t c) {
  return {{c}, 1};
}

}  // namespace

Mapped CharacterTable::strip(char32_t code_point) {
  if (is_hangul(code_point)) return decompose_hangul(code_point);
  if (const auto* run = find_range(tables::kStripRuns, code_point))
    return one(tables::kStripResults[run->index + (code_point - run->first)]);
  return expand(tables::kStripExpansions, code_point);
}

Mapped CharacterTable::lower(char32_t code_point) {
  if (const auto* run = find_range(tables::kLower, code_point))
    return one(static_cast<char32_t>(static_cast<std::int64_t>(code_point) + run->distance));
  return expand(tables::kLowerExpansions, code_point);
}

std::uint8_t CharacterTable::order(char32_t code_point) {
  for (const auto& row : tables::kRanks)
    if (code_point >= row.first && code_point <= row.last) return row.rank;
  return 0;
}

CharacterTable::CharacterTable() : page_start_{} {
  std::vector<std::uint8_t> flat(kCodePoints);
  const auto mark = [&flat](const auto& rows, std::uint8_t bit) {
    for (const auto& row : rows)
      for (char32_t c = row.first; c <= row.last; ++c) flat[c] |= bit;
  };
  mark(tables::kRemoved, kRemoved);
  mark(tables::kSpaces, kSpace);
  mark(tables::kCjk, kCjk);
  mark(tables::kPunctuation, kPunctuation);
  mark(tables::kWords, kWordPart);
  mark(tables::kStrippedMarks, kStripChanges);
  mark(tables::kStripRuns, kStripChanges);
  mark(tables::kMoving, kMoving);
  for (char32_t c = kFirstHangul; c < kFirstHangul + kHangulCount; ++c) flat[c] |= kStripChanges;
  for (const auto& row : tables::kStripExpansions) flat[row.from] |= kStripChanges;
  for (const auto& row : tables::kLowerExpansions) flat[row.from] |= kLowerChanges;
  for (const auto& row : tables::kLower)
    for (char32_t c = row.first; c <= row.last; c += row.step) flat[c] |= kLowerChanges;

  // Most pages are equal to another one (unassigned, CJK, private use): each content is kept once.
  std::map<std::vector<std::uint8_t>, std::uint32_t> known;
  for (std::size_t page = 0; page < page_start_.size(); ++page) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(page * kPageSize);
    std::vector<std::uint8_t> content(begin, begin + kPageSize);
    const auto [entry, is_new] =
        known.try_emplace(std::move(content), static_cast<std::uint32_t>(pages_.size()));
    if (is_new) pages_.insert(pages_.end(), entry->first.begin(), entry->first.end());
    page_start_[page] = entry->second;
  }
}

}  // namespace ranktune::text
