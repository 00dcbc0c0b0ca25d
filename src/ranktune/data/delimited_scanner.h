#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/data/table_content.h"

namespace ranktune::data {

/// A cell as it stands in the file: the range between its quotes, or between its separators.
struct RawCell {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;
  bool has_doubled_quotes = false;  ///< the content differs from the range: each "" stands for one quote

  std::size_t start() const { return quoted ? begin - 1 : begin; }
  bool is_blank() const { return begin == end && !quoted; }
};

/// Cuts CSV, TSV or lines into rows of raw cells, one after the other.
class DelimitedScanner {
 public:
  DelimitedScanner(const TableSource& source, TableFormat format, RowPlace first = {0, 1})
      : source_(source), format_(format), position_(first.offset), line_(first.line) {}

  /// Replaces `cells` by the next row's; false when the text has ended. THROWS: DataError.
  bool next(std::vector<RawCell>& cells);

  /// Where the row starts that next() gave last.
  RowPlace place() const noexcept { return place_; }

 private:
  void cut_at_tabs(std::vector<RawCell>& cells);
  void cut_at_commas(std::vector<RawCell>& cells);
  RawCell quoted_cell();
  RawCell plain_cell();
  bool at_row_end() const noexcept;
  [[noreturn]] void fail_after_quote(std::size_t opened) const;

  const TableSource& source_;
  TableFormat format_;
  std::size_t position_;
  std::int64_t line_;
  RowPlace place_;
};

}  // namespace ranktune::data
