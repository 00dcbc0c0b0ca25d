#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/data/columns.h"
#include "ranktune/data/labels.h"
#include "ranktune/data/table.h"

namespace ranktune::data {

/// The rows of one file as a job uses them. From files to splits:
///
///     Table train = read_table("train.csv"), dev = read_table("dev.csv");
///     TextColumns text = choose_text_columns(train, {}, std::nullopt, "label", logger);
///     LabelColumn labels{train, require_column(train, "label", "--label_column_name")}, dev_labels{...};
///     LabelScheme scheme = infer_labels(labels, dev_labels, logger);
///     SplitData rows = load_split(train, {.text = text, .label_column = "label", .scheme = &scheme},
///     logger);
///
/// LIFETIME: the views live as long as any copy of this struct.
struct SplitData {
  Table table;                           ///< the whole file
  std::vector<std::string_view> first;   ///< [rows]
  std::vector<std::string_view> second;  ///< [rows] for pairs, else empty
  std::vector<std::int64_t> classes;     ///< [rows] for a classification with labels, else empty
  std::vector<float> targets;            ///< [rows] for a regression with labels, else empty
  std::shared_ptr<const std::vector<std::string>> joined;  ///< owns `first` when columns were joined

  /// The first `rows()` rows of `table`, in its order.
  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(first.size()); }
  std::int64_t line(std::int64_t row) const noexcept { return table.line(row); }
};

struct SplitOptions {
  TextColumns text = {};
  std::string label_column = "label";
  const LabelScheme* scheme = nullptr;           ///< null: labels are not read, the file need not have any
  std::optional<std::int64_t> max_samples = {};  ///< the first so many rows
};

/// Takes texts and labels out of a table. An empty cell is an empty text, with a warning that counts them.
/// THROWS: DataError with the place of a text that is null, a list or an object, for a missing column, and as
/// read_classes and read_targets do; UsageError for max_samples below 1.
SplitData load_split(const Table& table, const SplitOptions& options, core::Logger& logger);

}  // namespace ranktune::data
