#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/data/table.h"

namespace ranktune::data {

/// The text of a table and the names of its places.
struct TableSource {
  std::string name;
  std::string bytes;
  std::string_view text;  ///< `bytes` without the byte order mark; offsets count from its start

  TableSource() = default;
  TableSource(const TableSource&) = delete;  // `text` looks into `bytes`
  TableSource& operator=(const TableSource&) = delete;

  SourceLocation location(std::size_t offset) const;
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const;
};

struct RowPlace {
  std::size_t offset = 0;  ///< in TableSource::text
  std::int64_t line = 0;
};

/// What Table shows. Column-major: training reads a few whole columns.
struct TableContent {
  TableSource source;
  TableFormat format = TableFormat::csv;
  std::int64_t header_line = 0;  ///< 0: there is no header
  std::vector<std::string> names;
  std::vector<bool> unnamed;
  std::vector<std::vector<Cell>> columns;
  std::vector<RowPlace> rows;
  std::deque<std::string>
      unescaped;  ///< cells that differ from their text in the file; a deque does not move them
};

/// Fills names, columns and rows from source.text. THROWS: DataError.
void read_delimited(TableContent& content, bool header);
void read_json(TableContent& content);

/// Offset in source.text at which a cell starts; of a key that the row does not have, where the row starts.
std::size_t find_delimited_cell(const TableContent& content, std::int64_t row, std::size_t column);
std::size_t find_json_cell(const TableContent& content, std::int64_t row, std::size_t column);

/// REQUIRES: well-formed UTF-8. At most 40 characters, without control characters: fit for one line of a
/// message.
std::string excerpt(std::string_view text);

/// "a, b, c", for messages; a long list ends in "and 70 more".
std::string list_of(const std::vector<std::string>& words);

}  // namespace ranktune::data
