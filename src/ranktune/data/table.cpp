#include "ranktune/data/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ranktune/core/files.h"
#include "ranktune/core/utf8.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Formats that people give by mistake and that have NUL or non-UTF-8 bytes right at the start.
void refuse_other_files(const TableSource& source) {
  const std::string_view bytes = source.bytes;
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    throw DataError(
        {source.name},
        fmt::format("is UTF-16, UTF-8 is needed: iconv -f UTF-16 -t UTF-8 {} > converted", source.name));
  if (bytes.starts_with("\x1F\x8B"))
    throw DataError({source.name}, "is compressed with gzip: gunzip it first");
  if (bytes.starts_with("PK\x03\x04"))
    throw DataError({source.name}, "is a ZIP archive or a spreadsheet: save its table as CSV (UTF-8) first");
}

void check_encoding(const TableSource& source) {
  const std::size_t invalid = core::find_invalid_utf8(source.text);
  const std::size_t nul = source.text.substr(0, invalid).find('\0');
  if (nul != std::string_view::npos)
    source.fail(
        nul,
        "a NUL byte: this is not a text file, or it is damaged; remove the byte or export the file again");
  if (invalid != std::string_view::npos) {
    const auto byte = static_cast<unsigned char>(source.text[invalid]);
    source.fail(invalid,
                fmt::format("byte 0x{:02X} is not UTF-8; if the file comes from Windows or is Latin-1: "
                            "iconv -f WINDOWS-1252 -t UTF-8 {} > converted",
                            byte, source.name));
  }
}

void fill(TableSource& source, std::string bytes, const std::string& name) {
  source.name = name;
  source.bytes = std::move(bytes);
  refuse_other_files(source);
  source.text = source.bytes;
  if (source.text.starts_with(kByteOrderMark)) source.text.remove_prefix(kByteOrderMark.size());
  check_encoding(source);
}

[[noreturn]] void fail_without_rows(const TableContent& content) {
  const std::string_view text = content.source.text;
  std::string message = content.header_line > 0 ? "has a header but no rows: at least one row is needed"
                                                : "has no rows: at least one is needed";
  if (text.find('\r') != std::string_view::npos && text.find('\n') == std::string_view::npos)
    message = fmt::format("has carriage returns alone as line breaks: tr '\\r' '\\n' < {} > converted",
                          content.source.name);
  throw DataError({content.source.name}, message);
}

Table build_table(std::string bytes, TableFormat format, bool header, const std::string& name) {
  const auto content = std::make_shared<TableContent>();
  content->format = format;
  fill(content->source, std::move(bytes), name);
  if (content->source.text.find_first_not_of(" \t\r\n") == std::string_view::npos &&
      format != TableFormat::lines)
    throw DataError({name}, "is empty: a table with at least one row is needed");
  if (format == TableFormat::json || format == TableFormat::json_lines) {
    read_json(*content);
  } else {
    read_delimited(*content, header && format != TableFormat::lines);
  }
  if (content->rows.empty()) fail_without_rows(*content);
  return Table(content);
}

}  // namespace

SourceLocation TableSource::location(std::size_t offset) const {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_break = before.rfind('\n');
  const std::size_t line_start = line_break == std::string_view::npos ? 0 : line_break + 1;
  return {name, 1 + std::count(before.begin(), before.end(), '\n'),
          static_cast<std::int64_t>(before.size() - line_start) + 1};
}

void TableSource::fail(std::size_t offset, const std::string& message) const {
  throw DataError(location(offset), message);
}

std::string excerpt(std::string_view text) {
  std::string out;
  std::size_t position = 0;
  for (int count = 0; position < text.size(); ++count) {
    if (count == 40) return out + "...";
    const char32_t code_point = core::next_code_point(text, position);
    core::append_utf8(out, code_point < 0x20 || code_point == 0x7F ? U' ' : code_point);
  }
  return out;
}

std::string list_of(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 12;
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kShown); ++i) {
    if (i > 0) out += ", ";
    out += excerpt(words[i]);
  }
  if (words.size() > kShown) out += fmt::format(" and {} more", words.size() - kShown);
  return out;
}

const std::string& Table::name() const noexcept {
  return content_->source.name;
}
TableFormat Table::format() const noexcept {
  return content_->format;
}
std::int64_t Table::rows() const noexcept {
  return static_cast<std::int64_t>(content_->rows.size());
}
const std::vector<std::string>& Table::column_names() const noexcept {
  return content_->names;
}
bool Table::is_unnamed(std::size_t column) const noexcept {
  return content_->unnamed[column];
}
std::int64_t Table::line(std::int64_t row) const noexcept {
  return content_->rows[row].line;
}

std::optional<std::size_t> Table::find_column(std::string_view column_name) const noexcept {
  const auto found = std::find(content_->names.begin(), content_->names.end(), column_name);
  if (found == content_->names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - content_->names.begin());
}

const Cell& Table::cell(std::int64_t row, std::size_t column) const noexcept {
  return content_->columns[column][row];
}

SourceLocation Table::where(std::int64_t row, std::size_t column) const {
  if (content_->format == TableFormat::lines) return {name(), line(row), 1};
  const bool json = content_->format == TableFormat::json || content_->format == TableFormat::json_lines;
  return content_->source.location(json ? find_json_cell(*content_, row, column)
                                        : find_delimited_cell(*content_, row, column));
}

SourceLocation Table::where_header() const {
  return {name(), content_->header_line};
}

TableFormat table_format_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  if (extension == ".csv") return TableFormat::csv;
  if (extension == ".tsv" || extension == ".tab" || extension == ".txt") return TableFormat::tsv;
  if (extension == ".jsonl" || extension == ".ndjson") return TableFormat::json_lines;
  if (extension == ".json") return TableFormat::json;
  throw UsageError(
      fmt::format("{}: the extension says how rows are written, and {} is not known: use .csv, .tsv, .txt "
                  "(tabs), .jsonl, .ndjson or .json",
                  path.string(), extension.empty() ? "none" : "'" + extension + "'"));
}

Table read_table(const std::filesystem::path& path, const ReadOptions& options) {
  const TableFormat format = table_format_of(path);
  return build_table(core::read_file(path), format, options.header,
                     options.name.empty() ? path.string() : options.name);
}

Table parse_table(std::string text, TableFormat format, const ReadOptions& options) {
  return build_table(std::move(text), format, options.header,
                     options.name.empty() ? "standard input" : options.name);
}

Table table_of_texts(const std::vector<std::string>& texts, const std::string& name) {
  if (texts.empty()) throw DataError({name}, "has no rows: at least one text is needed");
  const auto content = std::make_shared<TableContent>();
  content->format = TableFormat::lines;
  content->source.name = name;
  content->names = {"text"};
  content->unnamed = {false};
  content->columns.resize(1);
  for (const std::string& text : texts) {
    const std::int64_t line = static_cast<std::int64_t>(content->rows.size()) + 1;
    const std::size_t invalid = std::min(core::find_invalid_utf8(text), text.find('\0'));
    if (invalid != std::string::npos)
      throw DataError({name, line, static_cast<std::int64_t>(invalid) + 1},
                      "this text is not UTF-8: convert it first");
    content->rows.push_back({0, line});
    content->columns[0].push_back({content->unescaped.emplace_back(text)});
  }
  return Table(content);
}

}  // namespace ranktune::data
