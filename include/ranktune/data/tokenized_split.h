#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ranktune/text/tokenizer.h"

namespace ranktune::data {

/// The token ids of all rows of a split, end to end: row i is [offsets[i], offsets[i + 1]).
struct TokenizedSplit {
  std::vector<std::int32_t> ids;       ///< [tokens]
  std::vector<std::uint8_t> type_ids;  ///< [tokens], 0 for the first text of a row and 1 for the second
  std::vector<std::int64_t> offsets;   ///< [rows + 1], starts with 0

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t tokens() const noexcept { return offsets.back(); }
  std::span<const std::int32_t> row_ids(std::int64_t row) const;
  std::span<const std::uint8_t> row_type_ids(std::int64_t row) const;
  /// Tokens of each row, special tokens included.
  std::vector<std::int64_t> lengths() const;
};

struct TokenizeOptions {
  std::int64_t max_length = 128;  ///< tokens a row at most, special tokens included
  std::int64_t threads = 1;       ///< 0 or less: as many as the machine has cores
  /// Rows done and rows in all; called from the calling thread only, and for the last time with all rows
  /// done.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Encodes each row; the result does not depend on the number of threads. `second` is empty, or as long as
/// `first`. REQUIRES: well-formed UTF-8. THROWS: UsageError when max_length leaves no room beside the special
/// tokens; whatever the tokenizer throws.
TokenizedSplit tokenize_split(const text::Tokenizer& tokenizer, std::span<const std::string_view> first,
                              std::span<const std::string_view> second, const TokenizeOptions& options);

}  // namespace ranktune::data
