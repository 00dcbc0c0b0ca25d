#include "ranktune/data/split.h"

#include <fmt/format.h>

#include <algorithm>

#include "ranktune/core/error.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

std::int64_t count_rows(const Table& table, const std::optional<std::int64_t>& max_samples) {
  if (!max_samples) return table.rows();
  if (*max_samples < 1)
    throw UsageError(fmt::format("{}: {} rows are to be used: give 1 or more, or leave the limit out",
                                 table.name(), *max_samples));
  return std::min(table.rows(), *max_samples);
}

std::vector<std::string_view> read_texts(const Table& table, const std::string& name, std::int64_t rows,
                                         core::Logger& logger) {
  const std::size_t column = require_column(table, name, "--text_column_names");
  std::vector<std::string_view> texts(rows);
  std::int64_t empty = 0;
  std::int64_t first_empty_line = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Cell& cell = table.cell(row, column);
    if (cell.kind == CellKind::null)
      throw DataError(table.where(row, column),
                      fmt::format("the text (key '{}') is null or missing: write \"\" for an "
                                  "empty text, or remove the row",
                                  excerpt(name)));
    if (cell.kind == CellKind::json)
      throw DataError(
          table.where(row, column),
          fmt::format("the text (key '{}') is a list or an object: a string is needed", excerpt(name)));
    if (cell.text.empty() && empty++ == 0) first_empty_line = table.line(row);
    texts[row] = cell.text;
  }
  if (empty > 0)
    logger.warning(fmt::format("{}: {} of {} cells in text column '{}' are empty, the first on line {}",
                               table.name(), empty, rows, excerpt(name), first_empty_line));
  return texts;
}

std::shared_ptr<const std::vector<std::string>> join(
    const std::vector<std::vector<std::string_view>>& columns, const std::string& delimiter) {
  auto joined = std::make_shared<std::vector<std::string>>(columns[0].begin(), columns[0].end());
  for (std::size_t i = 1; i < columns.size(); ++i)
    for (std::size_t row = 0; row < joined->size(); ++row) ((*joined)[row] += delimiter) += columns[i][row];
  return joined;
}

void read_labels(const LabelColumn& source, const LabelScheme& scheme, SplitData& split) {
  if (scheme.kind == TaskKind::regression) {
    split.targets = read_targets(source, split.rows());
  } else {
    split.classes = read_classes(source, scheme.labels, split.rows());
  }
}

}  // namespace

SplitData load_split(const Table& table, const SplitOptions& options, core::Logger& logger) {
  const std::int64_t rows = count_rows(table, options.max_samples);
  SplitData split{table, {}, {}, {}, {}, nullptr};
  std::vector<std::vector<std::string_view>> columns;
  for (const std::string& name : options.text.names) columns.push_back(read_texts(table, name, rows, logger));
  if (options.text.delimiter && columns.size() > 1) {
    split.joined = join(columns, *options.text.delimiter);
    split.first.assign(split.joined->begin(), split.joined->end());
  } else {
    split.first = std::move(columns.at(0));
    if (columns.size() > 1) split.second = std::move(columns[1]);
  }
  if (options.scheme != nullptr)
    read_labels({table, require_column(table, options.label_column, "--label_column_name")}, *options.scheme,
                split);
  return split;
}

}  // namespace ranktune::data
