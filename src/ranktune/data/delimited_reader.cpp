#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ranktune/data/delimited_scanner.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

class Reader {
 public:
  Reader(TableContent& content, bool header)
      : content_(content),
        scanner_(content.source, content.format),
        header_(header),
        last_letter_(content.source.text.find_last_not_of("\r\n")) {}

  void read() {
    skip_blank_lines();
    if (cells_.empty()) return;
    if (header_) {
      read_header();
      if (!scanner_.next(cells_)) return;
    } else {
      name_by_number();
    }
    reserve();
    do {
      read_row();
    } while (scanner_.next(cells_));
  }

 private:
  /// Texts have no blank lines that could be skipped: each line is one.
  void skip_blank_lines() {
    while (scanner_.next(cells_) && is_blank_line() && content_.format != TableFormat::lines) continue;
  }

  bool is_blank_line() const { return cells_.size() == 1 && cells_[0].is_blank(); }

  void read_header() {
    content_.header_line = scanner_.place().line;
    if (content_.format == TableFormat::csv && cells_.size() == 1) refuse_other_separators();
    std::unordered_map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      std::string column(value(cells_[i]));
      content_.unnamed.push_back(column.empty());
      if (!column.empty() && !seen.emplace(column, i).second)
        content_.source.fail(cells_[i].start(),
                             fmt::format("two columns are called '{}': rename one of them", excerpt(column)));
      content_.names.push_back(std::move(column));
    }
    for (std::size_t i = 0; i < content_.names.size(); ++i) {
      if (!content_.unnamed[i]) continue;
      content_.names[i] = fmt::format("Unnamed: {}", i);
      while (!seen.emplace(content_.names[i], i).second) content_.names[i] += '_';
    }
    content_.columns.resize(cells_.size());
  }

  /// A header of one cell that holds a tab or a semicolon is a file of another kind.
  void refuse_other_separators() const {
    const std::string_view header =
        content_.source.text.substr(cells_[0].begin, cells_[0].end - cells_[0].begin);
    const std::size_t tab = header.find('\t');
    const std::size_t semicolon = header.find(';');
    if (tab != std::string_view::npos)
      content_.source.fail(cells_[0].begin + tab,
                           "the header has tabs and no commas: rename the file to .tsv");
    if (semicolon != std::string_view::npos)
      content_.source.fail(
          cells_[0].begin + semicolon,
          "the header has semicolons and no commas: save the table with commas or tabs (.tsv)");
  }

  void name_by_number() {
    if (content_.format == TableFormat::lines) {
      content_.names = {"text"};
    } else {
      for (std::size_t i = 0; i < cells_.size(); ++i) content_.names.push_back(std::to_string(i));
    }
    content_.unnamed.assign(cells_.size(), false);
    content_.columns.resize(cells_.size());
  }

  /// An upper bound of the rows, so that columns grow once.
  void reserve() {
    const std::string_view text = content_.source.text;
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    content_.rows.reserve(lines);
    if (lines * content_.columns.size() > text.size())
      return;  // a cell takes a byte: so most lines are in quotes
    for (auto& column : content_.columns) column.reserve(lines);
  }

  void read_row() {
    if (is_blank_line() && content_.format != TableFormat::lines && !keep_blank_line()) return;
    if (cells_.size() != content_.columns.size()) fail_cell_count();
    for (std::size_t i = 0; i < cells_.size(); ++i) content_.columns[i].push_back({value(cells_[i])});
    content_.rows.push_back(scanner_.place());
  }

  /// In a table with one column a blank line is a row, unless only blank lines follow.
  bool keep_blank_line() const {
    return content_.columns.size() == 1 && scanner_.place().offset < last_letter_;
  }

  [[noreturn]] void fail_cell_count() const {
    const std::size_t expected = content_.columns.size();
    const std::size_t shown = std::min(cells_.size(), expected + 1) - 1;
    const bool csv = content_.format == TableFormat::csv;
    content_.source.fail(
        cells_[shown].start(),
        fmt::format("this row has {} cell{}, {} {} {}: {}", cells_.size(), cells_.size() == 1 ? "" : "s",
                    header_ ? "the header has" : "the first row has", expected,
                    csv ? "(comma-separated)" : "(tab-separated)",
                    csv ? "put double quotes around a cell that holds a comma or a line break"
                        : "a cell cannot hold a tab or a line break; name the file .csv if it has commas"));
  }

  std::string_view value(const RawCell& cell) {
    const std::string_view raw = content_.source.text.substr(cell.begin, cell.end - cell.begin);
    if (!cell.has_doubled_quotes) return raw;
    std::string& plain = content_.unescaped.emplace_back();
    plain.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      plain += raw[i];
      if (raw[i] == '"') ++i;  // quotes come in pairs here
    }
    return plain;
  }

  TableContent& content_;
  DelimitedScanner scanner_;
  bool header_;
  std::size_t last_letter_;  ///< after it only line breaks follow
  std::vector<RawCell> cells_;
};

}  // namespace

void read_delimited(TableContent& content, bool header) {
  Reader(content, header).read();
}

std::size_t find_delimited_cell(const TableContent& content, std::int64_t row, std::size_t column) {
  std::vector<RawCell> cells;
  DelimitedScanner(content.source, content.format, content.rows[row]).next(cells);
  return cells.at(column).start();
}

}  // namespace ranktune::data
