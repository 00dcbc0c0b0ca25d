#pragma once

#include <cstdint>
#include <vector>

/// Exact figures over predictions. Ranks count on their own and merge: the figures are those of all rows
/// together, and equal scikit-learn's and scipy's.
namespace ranktune::train {

/// Figures of one class. A figure whose denominator is 0 is 0.
struct ClassScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t support = 0;  ///< rows that have this class
};

/// Counts of (true class, predicted class) for rows with one class each.
class ConfusionMatrix {
 public:
  /// REQUIRES: num_classes >= 1.
  explicit ConfusionMatrix(std::int64_t num_classes);

  /// Counts one row. REQUIRES: 0 <= label, prediction < num_classes().
  void add(std::int64_t label, std::int64_t prediction) { ++cell(label, prediction); }

  /// Adds the rows of another matrix of the same size.
  void merge(const ConfusionMatrix& other);

  std::int64_t num_classes() const noexcept { return num_classes_; }
  std::int64_t count(std::int64_t label, std::int64_t prediction) const;
  std::int64_t rows() const;

  /// All figures below are 0 when there are no rows.
  double accuracy() const;
  ClassScores scores(std::int64_t label) const;

  /// Mean over the classes that occur among the labels or the predictions, each counting the same.
  double macro_f1() const;
  /// From the counts of all classes together; equal to the accuracy, since each row has one class.
  double micro_f1() const { return accuracy(); }
  /// Mean over the classes, weighted by support.
  double weighted_f1() const;
  /// Matthews' correlation coefficient, for any number of classes; 0 where it is undefined.
  double matthews_correlation() const;

 private:
  std::int64_t& cell(std::int64_t label, std::int64_t prediction);
  std::int64_t labelled(std::int64_t label) const;
  std::int64_t predicted(std::int64_t label) const;

  std::int64_t num_classes_;
  std::vector<std::int64_t> counts_;  ///< [num_classes, num_classes], row-major by true class
};

/// Pairs of (true value, predicted value). The pairs are kept, so merging in any grouping gives the same
/// figures.
class RegressionScores {
 public:
  void add(double label, double prediction);
  void merge(const RegressionScores& other);
  std::int64_t rows() const { return static_cast<std::int64_t>(labels_.size()); }

  /// NaN when there are no rows.
  double mean_squared_error() const;
  double mean_absolute_error() const;
  /// NaN for fewer than two rows or when one side is constant.
  double pearson() const;
  /// Pearson's coefficient of the ranks; equal values share the mean of their ranks.
  double spearman() const;

 private:
  std::vector<double> labels_;
  std::vector<double> predictions_;
};

}  // namespace ranktune::train
