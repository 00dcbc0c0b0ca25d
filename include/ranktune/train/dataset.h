#pragma once

#include <cstdint>
#include <vector>

#include "ranktune/data/tokenized_split.h"

namespace ranktune::train {

/// Rows that a model learns from, is measured on, or labels. At most one of the two label lists is filled.
struct Dataset {
  data::TokenizedSplit tokens;
  std::vector<std::int64_t> classes;  ///< [rows] of a classification
  std::vector<float> targets;         ///< [rows] of a regression

  std::int64_t rows() const noexcept { return tokens.rows(); }
  bool has_labels() const noexcept { return !classes.empty() || !targets.empty(); }
};

}  // namespace ranktune::train
