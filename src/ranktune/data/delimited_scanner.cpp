#include "ranktune/data/delimited_scanner.h"

#include <fmt/format.h>

#include <algorithm>

namespace ranktune::data {

bool DelimitedScanner::next(std::vector<RawCell>& cells) {
  cells.clear();
  if (position_ >= source_.text.size()) return false;
  place_ = {position_, line_};
  if (format_ == TableFormat::csv) {
    cut_at_commas(cells);
  } else {
    cut_at_tabs(cells);
  }
  ++line_;
  return true;
}

void DelimitedScanner::cut_at_tabs(std::vector<RawCell>& cells) {
  const std::string_view text = source_.text;
  const std::size_t line_break = std::min(text.find('\n', position_), text.size());
  std::size_t end = line_break;
  if (end > position_ && text[end - 1] == '\r') --end;
  const std::string_view row = text.substr(0, end);
  std::size_t tab = format_ == TableFormat::lines ? std::string_view::npos : row.find('\t', position_);
  for (; tab != std::string_view::npos; tab = row.find('\t', position_)) {
    cells.push_back({position_, tab});
    position_ = tab + 1;
  }
  cells.push_back({position_, end});
  position_ = line_break + 1;
}

void DelimitedScanner::cut_at_commas(std::vector<RawCell>& cells) {
  const std::string_view text = source_.text;
  for (;;) {
    cells.push_back(position_ < text.size() && text[position_] == '"' ? quoted_cell() : plain_cell());
    if (position_ >= text.size() || text[position_] != ',') break;
    ++position_;
  }
  if (position_ < text.size() && text[position_] == '\r') ++position_;
  ++position_;  // the line feed
}

/// A line ends in LF, in CRLF or with the text; a carriage return elsewhere belongs to its cell.
bool DelimitedScanner::at_row_end() const noexcept {
  const std::string_view text = source_.text;
  if (position_ >= text.size() || text[position_] == '\n') return true;
  return text[position_] == '\r' && (position_ + 1 == text.size() || text[position_ + 1] == '\n');
}

RawCell DelimitedScanner::plain_cell() {
  RawCell cell{position_, position_};
  const std::string_view text = source_.text;
  for (; position_ < text.size(); ++position_) {
    const char letter = text[position_];
    if (letter == ',' || letter == '\n' || (letter == '\r' && at_row_end())) break;
  }
  cell.end = position_;
  return cell;
}

RawCell DelimitedScanner::quoted_cell() {
  const std::string_view text = source_.text;
  const std::size_t opened = position_++;
  RawCell cell{position_, position_, true};
  for (;;) {
    const std::size_t quote = text.find('"', position_);
    if (quote == std::string_view::npos)
      source_.fail(
          opened,
          "the quote that opens this cell never ends: close it, double it if it belongs to the text, "
          "or name the file .tsv if it has tabs and no quoting");
    line_ += std::count(text.begin() + static_cast<std::ptrdiff_t>(position_),
                        text.begin() + static_cast<std::ptrdiff_t>(quote), '\n');
    position_ = quote + 1;
    if (position_ >= text.size() || text[position_] != '"') {
      cell.end = quote;
      break;
    }
    cell.has_doubled_quotes = true;
    ++position_;
  }
  if (!at_row_end() && text[position_] != ',') fail_after_quote(opened);
  return cell;
}

void DelimitedScanner::fail_after_quote(std::size_t opened) const {
  const SourceLocation start = source_.location(opened);
  source_.fail(
      position_,
      fmt::format("text after the closing quote of the cell that starts at line {}, column {}: quotes "
                  "that belong to the text must be doubled, or the quote before this place removed",
                  start.line, start.column));
}

}  // namespace ranktune::data
