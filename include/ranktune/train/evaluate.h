#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/dist/process_group.h"
#include "ranktune/models/sequence_classifier.h"
#include "ranktune/train/dataset.h"
#include "ranktune/train/text_classification.h"
#include "ranktune/train/trainer_state.h"

namespace ranktune::train {

/// What a model says about the rows of a dataset, in their order.
struct Predictions {
  std::int64_t num_labels = 0;
  std::vector<float> logits = {};  ///< [rows, num_labels], row-major
  double loss = 0;                 ///< mean over the rows; 0 for a dataset without labels
  PhaseSpeed speed = {};

  std::int64_t rows() const { return static_cast<std::int64_t>(logits.size()) / num_labels; }
  /// The label with the largest logit; the first of equal ones. REQUIRES: 0 <= row < rows().
  std::int64_t best_label(std::int64_t row) const;
};

/// How to go over a dataset.
struct PredictionOptions {
  std::int64_t batch_size = 8;
  Progress::Phase phase = Progress::Phase::predict;
  double label_smoothing = 0;  ///< of the loss, as in training
};

/// As an evaluation of a training has them.
PredictionOptions evaluation_options(const TrainingArguments& training);

/// Runs the model over all rows, a batch at a time, without gradients and without dropout. With a group the
/// ranks take batches in turn, and each gets the predictions of all: COLLECTIVE. REQUIRES: batch_size > 0, at
/// least one row.
Predictions predict(const models::SequenceClassifier& model, const Dataset& dataset,
                    const PredictionOptions& options, Observer& observer,
                    dist::ProcessGroup* group = nullptr);

/// Figures of an evaluation.
struct Evaluation {
  Figures figures;                        ///< eval_loss, eval_accuracy or eval_mse, and the speed
  double macro_f1 = 0;                    ///< of a classification
  std::vector<ClassReport> classes = {};  ///< one for each label; empty for a regression
};

/// Compares predictions with the labels. `label_names`: of a classification, in order of their ids.
/// REQUIRES: the dataset has labels and is the one that was predicted.
Evaluation measure(const Predictions& predictions, const Dataset& dataset,
                   const std::vector<std::string>& label_names);

}  // namespace ranktune::train
