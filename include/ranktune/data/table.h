#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/error.h"

/// Files of rows: CSV, TSV, JSON and JSON lines, read strictly, with the place of every fault.
namespace ranktune::data {

/// How rows are written down.
enum class TableFormat {
  csv,         ///< RFC 4180: commas, cells in double quotes may hold commas, line breaks and doubled quotes
  tsv,         ///< tabs, no quoting at all: a double quote is a letter like any other
  json_lines,  ///< one JSON object a line
  json,        ///< an array of objects, {"data": [objects]}, or objects one after the other
  lines,       ///< one text a line, in a column called "text"; there is no header
};

/// What a cell was in the file. Cells of CSV, TSV and lines are always `text`; an empty one is "".
enum class CellKind : std::uint8_t {
  text,
  integer,   ///< JSON number without fraction and exponent; the cell is its text
  floating,  ///< any other JSON number, also NaN, Infinity and -Infinity, as Python writes them
  boolean,   ///< the cell is "true" or "false"
  null,      ///< JSON null, or a key that this row does not have; the cell is ""
  json,      ///< a list or an object; the cell is its JSON text
};

struct Cell {
  std::string_view text;
  CellKind kind = CellKind::text;
};

struct TableContent;

/// Rows and named columns of one file; immutable, and cheap to copy since copies share the content.
/// LIFETIME: the views it gives live as long as any copy of the table.
class Table {
 public:
  explicit Table(std::shared_ptr<const TableContent> content) : content_(std::move(content)) {}

  /// The file as error messages call it.
  const std::string& name() const noexcept;
  TableFormat format() const noexcept;
  std::int64_t rows() const noexcept;
  /// In the order of the header; of JSON in the order in which keys first appear.
  const std::vector<std::string>& column_names() const noexcept;
  std::optional<std::size_t> find_column(std::string_view column_name) const noexcept;
  /// True for a header cell without a name: such a column is called "Unnamed: 2", as pandas calls it.
  bool is_unnamed(std::size_t column) const noexcept;

  /// REQUIRES: 0 <= row < rows(), column < column_names().size().
  const Cell& cell(std::int64_t row, std::size_t column) const noexcept;
  /// The line on which the row starts, from 1.
  std::int64_t line(std::int64_t row) const noexcept;
  /// Line and column (in bytes) at which the cell starts, for error messages: reads the row again.
  SourceLocation where(std::int64_t row, std::size_t column) const;
  /// The line of the header; the whole file where there is none.
  SourceLocation where_header() const;

 private:
  std::shared_ptr<const TableContent> content_;
};

struct ReadOptions {
  bool header = true;     ///< false: columns are called "0", "1", ...; JSON has names in any case
  std::string name = {};  ///< the file as error messages call it; empty: its path, or "standard input"
};

/// By extension: .csv; .tsv, .tab and .txt are TSV; .jsonl and .ndjson are JSON lines; .json.
/// THROWS: UsageError that names the known extensions.
TableFormat table_format_of(const std::filesystem::path& path);

/// Reads a file; its extension says the format. A byte order mark is skipped, line breaks are LF or CRLF.
/// Lines without any character are skipped, except in the middle of a table with one column, where each is a
/// row with an empty cell. A missing key of a JSON row is null. THROWS: DataError with line and column: not
/// UTF-8, a NUL, rows of unequal length, a quote that does not end, text after a closing quote, two columns
/// of one name, no rows, JSON faults; UsageError for an unknown extension.
Table read_table(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same for text that is not in a file, such as standard input. THROWS: as read_table.
Table parse_table(std::string text, TableFormat format, const ReadOptions& options = {});

/// A table with one column, "text", and a row for each text. THROWS: DataError for text that is not UTF-8, or
/// no text.
Table table_of_texts(const std::vector<std::string>& texts, const std::string& name);

}  // namespace ranktune::data
