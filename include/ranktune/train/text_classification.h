#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/train/training_arguments.h"

namespace ranktune::dist {
class ProcessGroup;
}

/// The whole jobs behind `ranktune train` and `ranktune predict`: files in, files out.
namespace ranktune::train {

/// One look at a running phase, for whoever shows progress.
struct Progress {
  enum class Phase { tokenize, train, evaluate, predict };
  Phase phase = Phase::train;
  std::int64_t done = 0;  ///< update steps, or rows
  std::int64_t total = 0;
  std::optional<double> loss = {};  ///< mean loss of the last update
  std::optional<double> learning_rate = {};
  double rows_per_second = 0;
  double tokens_per_second = 0;
  double seconds_left = 0;
};

/// Watches a job. Called often: implementations decide what to show. The default shows nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress&) {}
  virtual void phase_finished(Progress::Phase) {}
};

/// One label's row in the table at the end of an evaluation.
struct ClassReport {
  std::string label;
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t support = 0;  ///< rows that have this label
};

/// What a job leaves beside its files. Metric lists are in the order in which a reader wants them.
struct JobReport {
  std::vector<std::pair<std::string, double>> train_metrics;  ///< keys as in train_results.json
  std::vector<std::pair<std::string, double>> eval_metrics;   ///< keys as in eval_results.json
  double macro_f1 = 0;
  std::vector<ClassReport> classes;  ///< empty for regression
  double seconds_to_first_step = 0;  ///< from the start of the process to the first update
};

/// Reads the data, tokenises, loads the model, trains, evaluates, predicts and writes all files, as
/// `arguments` say. Nothing is written before the input has been checked. THROWS: UsageError, DataError,
/// CheckpointError for bad input; TrainingError for a loss that is not finite.
/// With a group, every rank runs the job with the same arguments: batches are dealt among them, rank 0 alone
/// writes, and the report is the same on all. COLLECTIVE; THROWS: DistributedError when another rank fails.
JobReport run_text_classification(const TextClassificationArguments& arguments, core::Logger& logger,
                                  Observer& observer, dist::ProcessGroup* group = nullptr);

/// Labels rows with a fine-tuned model. Rows go out in the order they came in, input columns kept.
/// `input` is read when the arguments name neither file nor texts; `output` is written when they name no
/// file.
void run_predict(const PredictArguments& arguments, std::istream& input, std::ostream& output,
                 core::Logger& logger, Observer& observer);

}  // namespace ranktune::train
