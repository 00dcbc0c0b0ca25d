#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/dist/gradient_reducer.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/models/sequence_classifier.h"
#include "ranktune/sampling/distributed_sampler.h"
#include "ranktune/sampling/sampler.h"
#include "ranktune/sampling/step_plan.h"
#include "ranktune/train/adamw.h"
#include "ranktune/train/dataset.h"
#include "ranktune/train/loss_meter.h"
#include "ranktune/train/rhythm.h"
#include "ranktune/train/schedule.h"
#include "ranktune/train/text_classification.h"
#include "ranktune/train/trainer_state.h"

namespace ranktune::train {

/// What a Trainer works with. LIFETIME: all of it lives longer than the Trainer.
struct TrainerParts {
  models::SequenceClassifier& model;    ///< trained in place
  const Dataset& train;                 ///< with labels, at least one row
  const Dataset* validation = nullptr;  ///< needed unless eval_strategy is `no`
  core::Logger& logger;
  Observer& observer;
  /// Writes all that makes up a model into an existing folder; needed unless save_strategy is `no`.
  std::function<void(const std::filesystem::path& folder)> save_model = {};
  /// The ranks that train together; absent: this process alone. Every rank has a Trainer with the same data
  /// and arguments, and rank 0 writes.
  dist::ProcessGroup* group = nullptr;
};

/// What a run leaves in memory.
struct TrainOutcome {
  Figures figures;     ///< train_runtime, ..., train_loss, epoch: the content of train_results.json
  TrainerState state;  ///< the content of trainer_state.json
};

/// The training loop: epochs of updates, each the exact mean over its rows, however they are split; the
/// Hugging Face Trainer's order of rows, schedule, optimizer, logs and evaluation times for the same
/// arguments.
class Trainer {
 public:
  /// THROWS: UsageError when dataloader_drop_last leaves no batch.
  Trainer(TrainerParts parts, const TrainingArguments& arguments);

  /// Trains to the end. Call it once. THROWS: TrainingError that names the update whose loss or gradient is
  /// not finite (with OnNonfinite::stop; the weights are then those before that update); Error when a
  /// checkpoint cannot be written.
  TrainOutcome run();

 private:
  using Clock = std::chrono::steady_clock;

  void run_epoch(std::int64_t epoch);
  std::vector<sampling::Update> deal(std::int64_t epoch);
  void run_update(const sampling::Update& update);
  void step(double loss);
  double next_learning_rate() const;
  double backward(const sampling::MicroBatch& part, std::int64_t rows_of_update);
  std::span<const std::int64_t> rows_of(const sampling::MicroBatch& part) const;
  at::Tensor forward(const models::TokenBatch& batch);
  void run_backward(const at::Tensor& loss);
  double sum_over_ranks(double loss, std::int64_t rows, std::int64_t tokens);
  void check_finite(double loss);
  void after_update(double loss);
  void after_epoch();
  void log();
  void evaluate();
  void save();
  TrainOutcome finish();
  TrainerState state(bool saving) const;
  void show_progress(double loss) const;

  TrainerParts parts_;
  TrainingArguments arguments_;
  sampling::BatchShape shape_;
  std::unique_ptr<const sampling::Sampler> sampler_;         ///< of the epoch's order, or else:
  std::optional<sampling::DistributedSampler> distributed_;  ///< of this rank's rows
  sampling::StepPlan plan_;
  AdamW optimizer_;
  std::unique_ptr<dist::GradientReducer> reducer_;  ///< with a group of several ranks
  Rhythm logs_, evaluations_, saves_;
  Schedule schedule_;
  std::optional<PlateauReducer> plateau_;  ///< in its place with reduce_lr_on_plateau
  double flos_per_token_ = 0;

  std::vector<std::int64_t> order_;  ///< rows of the current epoch, or with distributed_ this rank's
  std::int64_t updates_done_ = 0;
  double epoch_ = 0;          ///< how far the run is in its data
  double learning_rate_ = 0;  ///< of the last update
  double grad_norm_ = 0;      ///< of the last update, before clipping
  LossMeter losses_;
  std::vector<Figures> history_;
  std::int64_t nonfinite_updates_ = 0;

  std::int64_t rows_seen_ = 0;  ///< by all ranks
  std::int64_t tokens_seen_ = 0;
  double update_seconds_ = 0;  ///< spent in updates alone, without evaluations and saves
  Clock::time_point started_;
};

/// Multiplications and additions of training on one token, as the Trainer estimates them: 6 for each
/// parameter that is no embedding.
double training_flos_per_token(const models::NamedTensors& parameters);

}  // namespace ranktune::train
