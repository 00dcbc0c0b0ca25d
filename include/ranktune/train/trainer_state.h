#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The figures that a run leaves behind, in the files and under the names of the Hugging Face Trainer.
namespace ranktune::train {

/// A figure: counts stay whole numbers in the files, the rest is written with all digits.
using Figure = std::variant<std::int64_t, double>;

/// Named figures in the order in which they came up. The files sort them by name.
using Figures = std::vector<std::pair<std::string, Figure>>;

/// What is logged about training since the last log.
struct UpdateLog {
  double loss = 0;           ///< mean over the updates since the last log
  double grad_norm = 0;      ///< of the last update, before clipping
  double learning_rate = 0;  ///< that the last update used
  double epoch = 0;
  std::int64_t step = 0;  ///< updates done
};

/// loss, grad_norm, learning_rate, epoch, step.
Figures update_entry(const UpdateLog& log);

/// The figures of an evaluation, or of the end of the training, with the place in the run behind them: epoch,
/// step.
Figures summary_entry(Figures figures, double epoch, std::int64_t step);

/// What a phase did in how much time.
struct PhaseSpeed {
  double seconds = 0;
  double samples = 0;      ///< rows; for training those of all epochs
  std::int64_t steps = 0;  ///< updates, or batches of an evaluation
};

/// <prefix>_runtime in seconds (4 decimals), <prefix>_samples_per_second and <prefix>_steps_per_second (3
/// decimals), rounded as Python rounds. The last two are left out when no time passed.
Figures speed_figures(const std::string& prefix, const PhaseSpeed& speed);

/// How far the run is in its data: finished epochs plus the share of the current one, unrounded.
double epoch_position(std::int64_t finished_epochs, std::int64_t micro_batches_done,
                      std::int64_t micro_batches_per_epoch);

/// The content of trainer_state.json. Counts are those of the whole run, not of one rank.
struct TrainerState {
  double epoch = 0;
  std::int64_t global_step = 0;       ///< updates done
  std::int64_t max_steps = 0;         ///< updates of the whole run
  std::int64_t num_train_epochs = 0;  ///< epochs that are begun
  std::int64_t train_batch_size = 0;  ///< rows of a micro-batch on one device
  std::int64_t logging_steps = 500;
  std::int64_t eval_steps = 500;
  std::int64_t save_steps = 500;
  double total_flos = 0;
  bool should_save = false;  ///< the last step was to be saved
  bool should_training_stop = false;
  std::vector<Figures> log_history;  ///< in the order in which they were logged
};

/// The text of trainer_state.json: all keys of transformers 5.24, sorted, two spaces, a line break at the
/// end.
std::string to_json(const TrainerState& state);

/// The text of a *_results.json: sorted, four spaces, no line break at the end.
std::string results_json(const Figures& figures);

/// Writes folder/<split>_results.json, and puts the figures into folder/all_results.json, where later ones
/// win. THROWS: DataError when an all_results.json is there that is no JSON object; Error when a file cannot
/// be written.
void write_results(const std::filesystem::path& folder, const std::string& split, const Figures& figures);

}  // namespace ranktune::train
