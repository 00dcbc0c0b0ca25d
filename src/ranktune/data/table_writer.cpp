#include "ranktune/data/table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <unordered_set>

#include "ranktune/core/json.h"

namespace ranktune::data {
namespace {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump();
}

/// A list or an object may be spread over lines in the input; strings in it hold no raw line breaks.
std::string on_one_line(std::string_view json_text) {
  std::string out(json_text);
  std::replace_if(
      out.begin(), out.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return out;
}

std::string json_of(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::text:
      return json_string(cell.text);
    case CellKind::null:
      return "null";
    case CellKind::json:
      return on_one_line(cell.text);
    default:
      return std::string(cell.text);
  }
}

std::string json_of_fields(const std::vector<std::string>& fields, const std::vector<double>& values) {
  std::string out = "{";
  for (std::size_t i = 0; i < fields.size(); ++i)
    out +=
        fmt::format("{}{}: {}", i == 0 ? "" : ", ", json_string(fields[i]), core::python_float(values.at(i)));
  return out + "}";
}

std::string plain_text(const ExtraValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return core::python_float(*number);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  return "";
}

std::string json_of(const ExtraColumn& column, const ExtraValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "null";
  if (const auto* text = std::get_if<std::string>(&value)) return json_string(*text);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    return json_of_fields(column.fields, *numbers);
  return plain_text(value);
}

std::vector<std::string> written_names(const ExtraColumn& column, TableFormat format) {
  const bool json = format == TableFormat::json || format == TableFormat::json_lines;
  if (json || column.fields.empty()) return {column.name};
  std::vector<std::string> names;
  for (const std::string& field : column.fields) names.push_back(column.name + "." + field);
  return names;
}

}  // namespace

TableWriter::TableWriter(std::ostream& out, TableFormat format, const Table& input,
                         std::vector<ExtraColumn> extra, bool header)
    : out_(out), format_(format), input_(input), extra_(std::move(extra)) {
  if (format == TableFormat::lines)
    throw std::invalid_argument("TableWriter: `lines` has no columns to write");
  make_names_unique();
  if (format == TableFormat::json) out_ << "[";
  if (header && (format == TableFormat::csv || format == TableFormat::tsv)) write_header();
}

void TableWriter::make_names_unique() {
  std::unordered_set<std::string> taken(input_.column_names().begin(), input_.column_names().end());
  for (ExtraColumn& column : extra_) {
    const std::string wanted = column.name;
    const auto collides = [&] {
      const std::vector<std::string> names = written_names(column, format_);
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return taken.count(name) > 0; });
    };
    for (int attempt = 1; collides(); ++attempt)
      column.name = attempt == 1 ? "predicted_" + wanted : fmt::format("predicted_{}_{}", wanted, attempt);
    for (std::string& name : written_names(column, format_)) taken.insert(std::move(name));
  }
}

void TableWriter::write_header() {
  for (const std::string& name : input_.column_names()) put_cell(name);
  for (const ExtraColumn& column : extra_)
    for (const std::string& name : written_names(column, format_)) put_cell(name);
  put_line();
}

void TableWriter::write(std::int64_t row, std::span<const ExtraValue> extra) {
  if (extra.size() != extra_.size())
    throw std::invalid_argument("TableWriter: a value for each extra column is needed");
  if (format_ == TableFormat::csv || format_ == TableFormat::tsv) {
    write_delimited(row, extra);
  } else {
    write_json(row, extra);
  }
}

void TableWriter::finish() {
  if (format_ == TableFormat::json) out_ << "\n]\n";
}

void TableWriter::write_delimited(std::int64_t row, std::span<const ExtraValue> extra) {
  for (std::size_t column = 0; column < input_.column_names().size(); ++column)
    put_cell(input_.cell(row, column).text);
  for (std::size_t i = 0; i < extra.size(); ++i) {
    if (extra_[i].fields.empty()) {
      put_cell(plain_text(extra[i]));
      continue;
    }
    const auto* numbers = std::get_if<std::vector<double>>(&extra[i]);
    for (std::size_t field = 0; field < extra_[i].fields.size(); ++field)
      put_cell(numbers == nullptr ? "" : core::python_float(numbers->at(field)));
  }
  put_line();
}

void TableWriter::write_json(std::int64_t row, std::span<const ExtraValue> extra) {
  if (format_ == TableFormat::json) out_ << (first_row_ ? "\n" : ",\n");
  first_row_ = false;
  for (std::size_t column = 0; column < input_.column_names().size(); ++column) {
    put_key(input_.column_names()[column]);
    line_ += json_of(input_.cell(row, column));
  }
  for (std::size_t i = 0; i < extra.size(); ++i) {
    put_key(extra_[i].name);
    line_ += json_of(extra_[i], extra[i]);
  }
  line_ += line_begun_ ? "}" : "{}";
  if (format_ == TableFormat::json_lines) line_ += '\n';
  out_ << line_;
  line_.clear();
  line_begun_ = false;
}

void TableWriter::put_key(std::string_view key) {
  line_ += line_begun_ ? ", " : "{";
  line_begun_ = true;
  line_ += json_string(key);
  line_ += ": ";
}

void TableWriter::put_cell(std::string_view text) {
  const bool csv = format_ == TableFormat::csv;
  if (line_begun_) line_ += csv ? ',' : '\t';
  line_begun_ = true;
  if (!csv) {
    for (const char letter : text) line_ += letter == '\t' || letter == '\n' || letter == '\r' ? ' ' : letter;
  } else if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line_ += text;
  } else {
    line_ += '"';
    for (const char letter : text) line_.append(letter == '"' ? 2 : 1, letter);
    line_ += '"';
  }
}

void TableWriter::put_line() {
  if (line_.empty() && format_ == TableFormat::csv) line_ = "\"\"";  // a lone empty cell is no blank line
  line_ += '\n';
  out_ << line_;
  line_.clear();
  line_begun_ = false;
}

}  // namespace ranktune::data
