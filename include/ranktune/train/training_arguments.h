#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What a run is told. Names, meanings and defaults are those of Hugging Face's TrainingArguments and of the
/// run_glue / run_classification scripts, so that their command lines can be used as they are.
/// Plain values: no LibTorch, no parsing; tools/cli fills them from flags or from one JSON file.
namespace ranktune::train {

enum class IntervalStrategy { no, steps, epoch };
/// The Trainer's schedules; schedule.h has their formulas.
enum class SchedulerType {
  linear,
  cosine,
  cosine_with_restarts,
  polynomial,
  constant,
  constant_with_warmup,
  inverse_sqrt,
  reduce_lr_on_plateau,
  cosine_with_min_lr,
  cosine_warmup_with_min_lr,
  warmup_stable_decay
};
/// How ranks share an epoch. batches: whole batches in turn, no row twice. distributed: torch's
/// DistributedSampler, single rows in turn, the first ones repeated where they cannot be dealt evenly.
enum class SamplerType { batches, distributed };
enum class OnNonfinite { stop, report };

/// What shapes a schedule beyond its warm-up. Absent: the default of transformers, which schedule.h states.
/// Each belongs to certain schedules; tools/cli refuses it for another.
struct SchedulerKwargs {
  std::optional<double> num_cycles = {};
  std::optional<double> lr_end = {}, power = {};
  std::optional<double> timescale = {};
  std::optional<double> min_lr = {}, min_lr_rate = {}, warmup_lr_rate = {};
  std::optional<double> num_decay_steps = {}, num_stable_steps = {}, min_lr_ratio = {};
  std::optional<std::string> warmup_type = {}, decay_type = {};  ///< linear, cosine or 1-sqrt
  std::optional<double> factor = {}, patience = {}, threshold = {}, cooldown = {}, eps = {};
  std::optional<std::string> mode = {};            ///< min or max
  std::optional<std::string> threshold_mode = {};  ///< rel or abs
};

/// Which model to start from.
struct ModelArguments {
  std::filesystem::path model_name_or_path;  ///< folder with config.json, model.safetensors, tokenizer files
  bool ignore_mismatched_sizes =
      false;  ///< give tensors of another shape (a head for other labels) fresh values
};

/// Which rows to read, and how.
struct DataArguments {
  std::optional<std::filesystem::path> train_file;
  std::optional<std::filesystem::path> validation_file;
  std::optional<std::filesystem::path> test_file;
  std::vector<std::string>
      text_column_names;  ///< empty: sentence1 and sentence2, or sentence, or the first that fit
  std::optional<std::string>
      text_column_delimiter;  ///< given: several text columns are joined with it into one text
  std::optional<std::string> label_column_name;   ///< absent: "label"
  bool no_header = false;                         ///< columns are then named by their numbers, from 0
  std::int64_t max_seq_length = 128;              ///< tokens per row, special tokens included
  std::optional<std::int64_t> max_train_samples;  ///< the first N rows
  std::optional<std::int64_t> max_eval_samples;
  std::optional<std::int64_t> max_predict_samples;
};

/// How to train. Intervals below 1 are shares of all update steps, as the Trainer has them.
struct TrainingArguments {
  std::filesystem::path output_dir;
  bool overwrite_output_dir = false;
  bool do_train = false;
  bool do_eval = false;
  bool do_predict = false;
  std::int64_t per_device_train_batch_size = 8;
  std::int64_t per_device_eval_batch_size = 8;
  std::int64_t gradient_accumulation_steps = 1;
  double learning_rate = 5e-5;
  double weight_decay = 0.0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double label_smoothing_factor = 0.0;  ///< of a classification's loss, in training and evaluation
  double max_grad_norm = 1.0;           ///< 0 or less: gradients are not clipped
  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;  ///< greater than 0: wins over num_train_epochs
  SchedulerType lr_scheduler_type = SchedulerType::linear;
  SchedulerKwargs lr_scheduler_kwargs = {};
  double warmup_steps = 0.0;  ///< 1 or more: steps; below 1: share of all steps, rounded up
  double warmup_ratio = 0.0;  ///< used when warmup_steps is 0
  IntervalStrategy logging_strategy = IntervalStrategy::steps;
  double logging_steps = 500;
  bool logging_first_step = false;
  IntervalStrategy eval_strategy = IntervalStrategy::no;
  std::optional<double> eval_steps;  ///< absent: logging_steps
  IntervalStrategy save_strategy = IntervalStrategy::steps;
  double save_steps = 500;
  std::int64_t seed = 42;
  std::optional<std::int64_t> data_seed;  ///< absent: seed
  bool group_by_length = false;
  SamplerType sampler = SamplerType::batches;
  bool dataloader_drop_last = false;
  bool use_cpu = false;
  std::string device =
      {};  ///< "cpu", "cuda:1"; empty: the first GPU, or the CPU with use_cpu or where none is
  std::string device_library = {};  ///< shared library that registers the back end of `device`; empty: none
  std::vector<std::string> data_parallel_devices = {};  ///< DataParallel over these; empty: `device` alone
  double ddp_bucket_cap_mb = 25;
  bool ddp_find_unused_parameters = false;
  bool ddp_static_graph = false;
  bool disable_tqdm = false;
  std::int64_t num_threads = 0;  ///< 0: as many as the machine has cores
  OnNonfinite on_nonfinite = OnNonfinite::stop;
};

/// Rows that one process takes in a forward pass: those of each of its devices.
inline std::int64_t rows_per_pass(std::int64_t per_device_batch, const TrainingArguments& training) {
  const auto devices = static_cast<std::int64_t>(training.data_parallel_devices.size());
  return per_device_batch * (devices > 1 ? devices : 1);
}

/// Everything `ranktune train` is told.
struct TextClassificationArguments {
  ModelArguments model;
  DataArguments data;
  TrainingArguments training;
};

/// Everything `ranktune predict` is told.
struct PredictArguments {
  std::filesystem::path model;
  std::optional<std::filesystem::path> file;  ///< CSV, TSV, JSON or JSON lines by extension
  std::vector<std::string> texts;  ///< used when there is no file; both absent: standard input, a text a line
  std::optional<std::filesystem::path>
      output;  ///< CSV, TSV or JSON lines by extension; absent: standard output
  std::vector<std::string> text_column_names;
  std::optional<std::string> text_column_delimiter;
  bool no_header = false;
  std::int64_t top_k = 1;  ///< how many labels to give for each row, best first
  bool scores = false;     ///< also the probability of every label
  std::int64_t max_seq_length = 128;
  std::int64_t batch_size = 32;
  bool use_cpu = false;
  std::int64_t num_threads = 0;
};

}  // namespace ranktune::train
