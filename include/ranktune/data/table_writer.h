#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ranktune/data/table.h"

namespace ranktune::data {

/// A column that is added to those of the input. One with `fields` holds a number for each of them: JSON has
/// it as an object {"good": 0.9, "bad": 0.1}; CSV and TSV have a column for each, called "scores.good" and
/// "scores.bad".
struct ExtraColumn {
  std::string name;
  std::vector<std::string> fields;
};

/// What a row has in an extra column: nothing, a number, a text, or the numbers of all fields.
using ExtraValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<double>>;

/// Writes the rows of a table with columns added, in any format but `lines`.
/// * CSV: RFC 4180 quoting where a cell needs it, LF line breaks.
/// * TSV: no quoting, so that a tab, a line feed or a carriage return in a cell becomes a space. CSV and JSON
/// keep them.
/// * JSON lines and JSON (an array): cells keep the type they came with, keys and numbers as Python prints
/// them. A name that the input already has is made unique: "label" becomes "predicted_label", then
/// "predicted_label_2", ...
class TableWriter {
 public:
  /// Writes the header, if the format has one and `header` is true. REQUIRES: `out` lives as long as this
  /// object.
  TableWriter(std::ostream& out, TableFormat format, const Table& input, std::vector<ExtraColumn> extra,
              bool header = true);

  /// The added columns under the names that they are written with.
  const std::vector<ExtraColumn>& extra_columns() const noexcept { return extra_; }

  /// Writes one row of the input. REQUIRES: a value for each extra column, with as many numbers as it has
  /// fields.
  void write(std::int64_t row, std::span<const ExtraValue> extra);

  /// Ends the JSON array; the other formats need no end. Call it once, after the last row.
  void finish();

 private:
  void make_names_unique();
  void write_header();
  void write_delimited(std::int64_t row, std::span<const ExtraValue> extra);
  void write_json(std::int64_t row, std::span<const ExtraValue> extra);
  void put_cell(std::string_view text);
  void put_key(std::string_view key);
  void put_line();

  std::ostream& out_;
  TableFormat format_;
  Table input_;
  std::vector<ExtraColumn> extra_;
  std::string line_;  ///< the row under construction
  bool line_begun_ = false;
  bool first_row_ = true;
};

}  // namespace ranktune::data
