#include "ranktune/data/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "ranktune/core/error.h"
#include "ranktune/core/suggest.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

/// What to try when a table with one column lacks the wanted one: its separators may be another format's.
std::string format_hint(const Table& table) {
  if (table.column_names().size() != 1 || table.format() != TableFormat::tsv) return "";
  return table.column_names()[0].find(',') == std::string::npos ? ""
                                                                : "; if the file has commas, name it .csv";
}

bool is_key_name(std::string name) {
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  const std::size_t separator = name.find_last_of(" _-.#");
  const std::string last = separator == std::string::npos ? name : name.substr(separator + 1);
  return last == "id" || last == "idx" || last == "index";
}

std::vector<std::string> default_columns(const Table& table, std::string_view label_column) {
  const auto usable = [&](std::string_view name) { return name != label_column && table.find_column(name); };
  if (usable("sentence1") && usable("sentence2")) return {"sentence1", "sentence2"};
  if (usable("sentence")) return {"sentence"};
  if (usable("text")) return {"text"};
  std::vector<std::string> chosen;
  const std::vector<std::string>& names = table.column_names();
  for (std::size_t i = 0; i < names.size() && chosen.size() < 2; ++i)
    if (names[i] != label_column && !table.is_unnamed(i) && !is_key_name(names[i]))
      chosen.push_back(names[i]);
  return chosen;
}

void tell(const Table& table, const TextColumns& columns, core::Logger& logger) {
  std::string message = fmt::format("{}: text is column '{}'", table.name(), excerpt(columns.names[0]));
  if (columns.names.size() == 2)
    message +=
        fmt::format(" {} '{}'", columns.is_pair() ? "paired with" : "joined with", excerpt(columns.names[1]));
  logger.info(message + " (choose others with --text_column_names)");
}

void check(const TextColumns& columns, std::string_view label_column) {
  for (auto name = columns.names.begin(); name != columns.names.end(); ++name) {
    if (*name == label_column)
      throw UsageError(
          fmt::format("column '{}' cannot be text and label: check --text_column_names and "
                      "--label_column_name",
                      excerpt(*name)));
    if (std::find(columns.names.begin(), name, *name) != name)
      throw UsageError(fmt::format("--text_column_names has '{}' twice", excerpt(*name)));
  }
  if (columns.names.size() > 2 && !columns.delimiter)
    throw UsageError(
        fmt::format("--text_column_names has {} columns: give one, or two for a pair, or join them into one "
                    "text with --text_column_delimiter \" \"",
                    columns.names.size()));
}

}  // namespace

std::size_t require_column(const Table& table, std::string_view column_name, std::string_view flag) {
  if (const auto column = table.find_column(column_name)) return *column;
  const std::string nearest = core::nearest_word(column_name, table.column_names());
  throw DataError(table.where_header(),
                  fmt::format("no column '{}'{}: it has {}; say which one with {}{}", excerpt(column_name),
                              nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", excerpt(nearest)),
                              list_of(table.column_names()), flag, format_hint(table)));
}

TextColumns choose_text_columns(const Table& table, const std::vector<std::string>& wanted,
                                const std::optional<std::string>& delimiter, std::string_view label_column,
                                core::Logger& logger) {
  TextColumns columns{wanted, delimiter};
  check(columns, label_column);
  for (const std::string& name : wanted) require_column(table, name, "--text_column_names");
  if (!wanted.empty()) return columns;
  columns.names = default_columns(table, label_column);
  if (columns.names.empty())
    throw DataError(
        table.where_header(),
        fmt::format("no column that can be text: it has {}; say which one with --text_column_names",
                    list_of(table.column_names())));
  tell(table, columns, logger);
  return columns;
}

}  // namespace ranktune::data
