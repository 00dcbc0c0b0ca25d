#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/data/table.h"

/// From label cells to class numbers or to the targets of a regression.
namespace ranktune::data {

enum class TaskKind { classification, regression };

/// The names of the classes in the order of their ids.
class LabelSet {
 public:
  LabelSet() = default;
  explicit LabelSet(std::vector<std::string> names);

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// The class of a cell: the label of that very text, or else the one that is the same integer ("01" is
  /// "1").
  std::optional<std::int64_t> find(std::string_view cell) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

/// What is to be learned. A regression has no labels.
struct LabelScheme {
  TaskKind kind = TaskKind::classification;
  LabelSet labels;
};

struct LabelColumn {
  Table table;
  std::size_t column = 0;
};

/// Reads the label columns of the training file and, when given, of the validation file. In both JSON numbers
/// and their text mean the same. All cells of `train` numbers and at least one with a decimal point or an
/// exponent: regression, as pandas would have a float column. Otherwise classification; the labels are the
/// distinct cells of both files, sorted by value when all of them are integers, else as text by code point. A
/// label that only `validation` has is told to the logger. THROWS: DataError with the place of a cell that is
/// empty, null, a list or an object; for a number with a fraction in `validation` when `train` has integers;
/// for words or non-finite numbers in a regression.
LabelScheme infer_labels(const LabelColumn& train, const std::optional<LabelColumn>& validation,
                         core::Logger& logger);

/// For training. THROWS: DataError when all rows of a classification have one label.
void require_two_classes(const LabelColumn& train);

/// Whether they are LABEL_0, LABEL_1, ...: the names that a model has before anybody names its labels.
bool has_default_names(const std::vector<std::string>& names);

/// The labels to go on with when a checkpoint already has some. If its names are not LABEL_0, LABEL_1, ...
/// and cover all of `found` (letter case apart), then the checkpoint's ids, with the data's spelling;
/// otherwise `found`, with a warning that names both when the checkpoint had names of its own.
LabelSet match_labels(const LabelSet& checkpoint, const LabelSet& found, core::Logger& logger);

/// The class of each of the first `rows` rows. THROWS: DataError with the place of a label that is not in the
/// set.
std::vector<std::int64_t> read_classes(const LabelColumn& source, const LabelSet& labels, std::int64_t rows);

/// The target of each of the first `rows` rows. THROWS: DataError with the place of what is no finite number.
std::vector<float> read_targets(const LabelColumn& source, std::int64_t rows);

}  // namespace ranktune::data
