#include "ranktune/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_set>

#include "ranktune/core/error.h"
#include "ranktune/core/suggest.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

/// Blanks and a plus sign around a number do not count, as in pandas.
std::string_view trim_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trim_number(text);
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string lower_case(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

[[noreturn]] void fail(const LabelColumn& source, std::int64_t row, const std::string& message) {
  throw DataError(source.table.where(row, source.column), message);
}

std::string name_of(const LabelColumn& source) {
  return excerpt(source.table.column_names()[source.column]);
}

std::string_view label_cell(const LabelColumn& source, std::int64_t row) {
  const Cell& cell = source.table.cell(row, source.column);
  if (cell.kind == CellKind::null || cell.text.empty())
    fail(source, row,
         fmt::format("the label (column '{}') is missing: fill it in or remove the row", name_of(source)));
  if (cell.kind == CellKind::json)
    fail(source, row,
         fmt::format("the label (column '{}') is a list or an object: one label a row is needed",
                     name_of(source)));
  return cell.text;
}

/// The distinct cells of a column, each with the first row that has it.
std::map<std::string_view, std::int64_t> distinct_labels(const LabelColumn& source) {
  std::unordered_map<std::string_view, std::int64_t> seen;
  for (std::int64_t row = 0; row < source.table.rows(); ++row) seen.try_emplace(label_cell(source, row), row);
  return {seen.begin(), seen.end()};
}

using Labels = std::map<std::string_view, std::int64_t>;

bool all_integers(const Labels& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [](const auto& label) { return parse_number<std::int64_t>(label.first).has_value(); });
}

/// Numbers only, one of them a finite one that is written with a fraction or an exponent.
bool is_float_column(const Labels& labels) {
  bool has_fraction = false;
  for (const auto& [text, row] : labels) {
    const auto value = parse_number<double>(text);
    if (!value) return false;
    has_fraction |= std::isfinite(*value) && text.find_first_of(".eE") != std::string_view::npos;
  }
  return has_fraction;
}

std::vector<std::string> sorted_names(const Labels& labels) {
  std::vector<std::string> names;
  if (all_integers(labels)) {
    std::vector<std::int64_t> values;
    for (const auto& [text, row] : labels) values.push_back(*parse_number<std::int64_t>(text));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());  // "01" and "1"
    for (const std::int64_t value : values) names.push_back(std::to_string(value));
  } else {
    for (const auto& [text, row] : labels) names.emplace_back(text);
  }
  return names;
}

void check_validation(const LabelColumn& validation, const LabelSet& train_labels, const Labels& labels,
                      core::Logger& logger) {
  const bool integers =
      std::all_of(train_labels.names().begin(), train_labels.names().end(),
                  [](const auto& name) { return parse_number<std::int64_t>(name).has_value(); });
  for (const auto& [text, row] : labels) {
    if (train_labels.find(text)) continue;
    if (integers && parse_number<double>(text) && !parse_number<std::int64_t>(text))
      fail(validation, row,
           fmt::format("label '{}' is no integer, but the labels of the training file are: write them in "
                       "the same way",
                       excerpt(text)));
    logger.warning(
        fmt::format("{}:{}: label '{}' is in the validation file only: a class is added that training never "
                    "sees",
                    validation.table.name(), validation.table.line(row), excerpt(text)));
  }
}

}  // namespace

LabelSet::LabelSet(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) ids_.try_emplace(name, static_cast<std::int64_t>(ids_.size()));
}

std::optional<std::int64_t> LabelSet::find(std::string_view cell) const {
  auto found = ids_.find(std::string(cell));
  if (found == ids_.end()) {
    const auto integer = parse_number<std::int64_t>(cell);
    if (!integer) return std::nullopt;
    found = ids_.find(std::to_string(*integer));
  }
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

LabelScheme infer_labels(const LabelColumn& train, const std::optional<LabelColumn>& validation,
                         core::Logger& logger) {
  Labels labels = distinct_labels(train);
  if (is_float_column(labels)) {
    read_targets(train, train.table.rows());
    if (validation) read_targets(*validation, validation->table.rows());
    return {TaskKind::regression, {}};
  }
  const LabelSet train_labels(sorted_names(labels));
  if (static_cast<std::int64_t>(labels.size()) > std::max<std::int64_t>(50, train.table.rows() / 2))
    logger.warning(fmt::format("{}: column '{}' has {} different labels in {} rows: is it the label column?",
                               train.table.name(), name_of(train), labels.size(), train.table.rows()));
  if (validation) {
    const Labels more = distinct_labels(*validation);
    check_validation(*validation, train_labels, more, logger);
    labels.insert(more.begin(), more.end());
  }
  return {TaskKind::classification, LabelSet(sorted_names(labels))};
}

void require_two_classes(const LabelColumn& train) {
  const Labels labels = distinct_labels(train);
  if (labels.size() > 1) return;
  throw DataError(
      {train.table.name()},
      fmt::format(
          "all {} rows have the label '{}' (column '{}'): at least two different labels are needed to "
          "learn from; is it the right column? (--label_column_name)",
          train.table.rows(), excerpt(labels.begin()->first), name_of(train)));
}

bool has_default_names(const std::vector<std::string>& names) {
  for (std::size_t id = 0; id < names.size(); ++id)
    if (names[id] != fmt::format("LABEL_{}", id)) return false;
  return true;
}

LabelSet match_labels(const LabelSet& checkpoint, const LabelSet& found, core::Logger& logger) {
  if (checkpoint.size() == 0 || has_default_names(checkpoint.names())) return found;
  std::unordered_map<std::string, std::string> spelling;
  for (const std::string& name : found.names()) spelling.try_emplace(lower_case(name), name);
  std::vector<std::string> names;
  std::unordered_set<std::string> covered;
  for (const std::string& name : checkpoint.names()) {
    const auto same = spelling.find(lower_case(name));
    names.push_back(same == spelling.end() || found.find(name) ? name : same->second);
    if (found.find(names.back())) covered.insert(names.back());
  }
  if (static_cast<std::int64_t>(covered.size()) == found.size()) return LabelSet(std::move(names));
  logger.warning(fmt::format("the checkpoint's labels ({}) do not cover the data's ({}): the data's are used",
                             list_of(checkpoint.names()), list_of(found.names())));
  return found;
}

std::vector<std::int64_t> read_classes(const LabelColumn& source, const LabelSet& labels, std::int64_t rows) {
  std::unordered_map<std::string_view, std::int64_t> known;
  std::vector<std::int64_t> classes(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::string_view cell = label_cell(source, row);
    auto found = known.find(cell);
    if (found == known.end()) {
      const auto id = labels.find(cell);
      if (!id) {
        const std::string nearest = core::nearest_word(excerpt(cell), labels.names());
        fail(source, row,
             fmt::format("label '{}' is not known{}: the labels are {}", excerpt(cell),
                         nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", excerpt(nearest)),
                         list_of(labels.names())));
      }
      found = known.emplace(cell, *id).first;
    }
    classes[row] = found->second;
  }
  return classes;
}

std::vector<float> read_targets(const LabelColumn& source, std::int64_t rows) {
  std::vector<float> targets(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::string_view cell = label_cell(source, row);
    const auto value = parse_number<double>(cell);
    if (!value)
      fail(source, row,
           fmt::format("label '{}' is no number, and the training file's labels are numbers with fractions "
                       "(a regression)",
                       excerpt(cell)));
    targets[row] = static_cast<float>(*value);
    if (!std::isfinite(targets[row]))
      fail(source, row,
           fmt::format("label '{}' is no finite number: fill it in or remove the row", excerpt(cell)));
  }
  return targets;
}

}  // namespace ranktune::data
