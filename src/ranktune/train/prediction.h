#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "ranktune/data/table.h"

/// From logits to what a person or a program reads. No LibTorch.
namespace ranktune::train {

/// Softmax, to six significant digits: what float32 logits carry.
std::vector<double> probabilities_of(std::span<const float> logits);

/// The `top_k` largest (all, if there are fewer) by place, largest first, equal ones by place.
std::vector<std::size_t> best_first(std::span<const float> logits, std::int64_t top_k);

/// "0.125".
std::string three_decimals(float value);

/// What a model said about all rows of a table.
struct TablePredictions {
  const data::Table& table;
  std::span<const float> logits;    ///< [rows, labels], or [rows] of a regression
  std::vector<std::string> labels;  ///< empty for a regression
  std::int64_t top_k = 1;
  bool scores = false;  ///< also the probability of every label

  std::span<const float> row(std::int64_t number) const;
};

/// The table with columns added: label, score, label_2, score_2, ..., and scores; `prediction` of a
/// regression.
void write_table(std::ostream& out, data::TableFormat format, bool header,
                 const TablePredictions& predictions);

/// A line for each row of a table with one column: label, tab, probability, (more of them with top_k,
/// label=probability with scores,) tab, text. Of a regression: value, tab, text.
void write_lines(std::ostream& out, const TablePredictions& predictions);

}  // namespace ranktune::train
