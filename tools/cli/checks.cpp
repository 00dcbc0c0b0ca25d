#include "cli/checks.h"

#include <cmath>

#include "cli/scheduler_flags.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/json.h"

namespace ranktune::cli {
namespace {

using train::IntervalStrategy;
using train::TextClassificationArguments;
using train::TrainingArguments;

[[noreturn]] void refuse(const std::string& flag, const std::string& value, const std::string& rule) {
  throw UsageError("--" + flag + " " + value + ": it must be " + rule);
}

void at_least(std::int64_t least, const std::string& flag, std::int64_t value) {
  if (value < least) refuse(flag, std::to_string(value), std::to_string(least) + " or more");
}

void at_least(std::int64_t least, const std::string& flag, const std::optional<std::int64_t>& value) {
  if (value) at_least(least, flag, *value);
}

void not_negative(const std::string& flag, double value) {
  if (value < 0) refuse(flag, core::python_float(value), "0 or more");
}

void below_one(const std::string& flag, double value) {
  if (value < 0 || value >= 1) refuse(flag, core::python_float(value), "at least 0 and below 1");
}

/// Intervals and warm-up: a whole number of updates, or below 1 a share of all of them.
void whole_or_share(const std::string& flag, double value) {
  if (value < 0 || (value > 1 && value != std::floor(value)))
    refuse(flag, core::python_float(value), "a whole number of updates, or a share below 1 of all of them");
}

void check_interval(const std::string& what, IntervalStrategy strategy, const std::string& flag,
                    double value) {
  whole_or_share(flag, value);
  if (strategy == IntervalStrategy::steps && value == 0)
    throw UsageError("--" + what + "_strategy steps needs --" + flag + " above 0 (or give --" + what +
                     "_strategy no)");
}

void check_length(std::int64_t max_seq_length) {
  if (max_seq_length < 3)
    refuse("max_seq_length", std::to_string(max_seq_length), "3 or more: two special tokens and one of text");
}

void check_seed(const std::string& flag, std::int64_t seed) {
  constexpr std::int64_t kLargest = 4294967295;
  if (seed < 0 || seed > kLargest)
    refuse(flag, std::to_string(seed), "between 0 and " + std::to_string(kLargest));
}

void check_task(const TextClassificationArguments& arguments) {
  const TrainingArguments& training = arguments.training;
  if (arguments.model.model_name_or_path.empty())
    throw UsageError(
        "no model to start from: add --model_name_or_path DIR (ranktune train --help lists all flags)");
  if (!training.do_train && !training.do_eval && !training.do_predict)
    throw UsageError("nothing to do: add --do_train, --do_eval or --do_predict");
  if (training.do_train && !arguments.data.train_file)
    throw UsageError("--do_train needs rows to learn from: add --train_file FILE");
  if (training.eval_strategy != IntervalStrategy::no && !arguments.data.validation_file)
    throw UsageError("--eval_strategy needs rows to measure on: add --validation_file FILE");
  if (training.do_eval && !arguments.data.validation_file)
    throw UsageError("--do_eval needs rows to measure on: add --validation_file FILE");
  if (training.do_predict && !arguments.data.test_file)
    throw UsageError("--do_predict needs rows to label: add --test_file FILE");
  if (training.group_by_length && training.sampler == train::SamplerType::distributed)
    throw UsageError(
        "--group_by_length and --sampler distributed each say which rows come together: leave one out");
  if (training.output_dir.empty()) throw UsageError("no place for the results: add --output_dir DIR");
}

void check_data(const train::DataArguments& data) {
  check_length(data.max_seq_length);
  at_least(1, "max_train_samples", data.max_train_samples);
  at_least(1, "max_eval_samples", data.max_eval_samples);
  at_least(1, "max_predict_samples", data.max_predict_samples);
}

void check_optimizer(const TrainingArguments& training) {
  not_negative("learning_rate", training.learning_rate);
  not_negative("weight_decay", training.weight_decay);
  below_one("label_smoothing_factor", training.label_smoothing_factor);
  below_one("adam_beta1", training.adam_beta1);
  below_one("adam_beta2", training.adam_beta2);
  not_negative("adam_epsilon", training.adam_epsilon);
  whole_or_share("warmup_steps", training.warmup_steps);
  if (training.warmup_ratio < 0 || training.warmup_ratio > 1)
    refuse("warmup_ratio", core::python_float(training.warmup_ratio), "between 0 and 1");
  check_schedule(training);
}

void check_training(const TrainingArguments& training) {
  at_least(1, "per_device_train_batch_size", training.per_device_train_batch_size);
  at_least(1, "per_device_eval_batch_size", training.per_device_eval_batch_size);
  at_least(1, "gradient_accumulation_steps", training.gradient_accumulation_steps);
  at_least(0, "num_threads", training.num_threads);
  check_seed("seed", training.seed);
  if (training.data_seed) check_seed("data_seed", *training.data_seed);
  const bool epochs_count = training.max_steps <= 0;
  if (training.num_train_epochs < 0 || (epochs_count && training.do_train && training.num_train_epochs == 0))
    refuse("num_train_epochs", core::python_float(training.num_train_epochs), "above 0");
  check_optimizer(training);
  check_interval("logging", training.logging_strategy, "logging_steps", training.logging_steps);
  check_interval("save", training.save_strategy, "save_steps", training.save_steps);
  const bool own_interval = training.eval_steps.has_value();
  check_interval("eval", training.eval_strategy, "eval_steps",
                 own_interval ? *training.eval_steps : training.logging_steps);
}

}  // namespace

void check(const TextClassificationArguments& arguments) {
  check_task(arguments);
  check_data(arguments.data);
  check_training(arguments.training);
}

void check(const train::PredictArguments& arguments) {
  if (arguments.model.empty())
    throw UsageError("no model to label with: add --model DIR (ranktune predict --help lists all flags)");
  if (arguments.file && !arguments.texts.empty())
    throw UsageError("both --file and texts are given (" + in_quotes(arguments.texts.front()) +
                     "): leave one of them out");
  const bool column_flags =
      !arguments.text_column_names.empty() || arguments.text_column_delimiter || arguments.no_header;
  if (column_flags && !arguments.file)
    throw UsageError(
        "--text_column_names, --text_column_delimiter and --no_header are about the columns of a --file");
  at_least(1, "top_k", arguments.top_k);
  at_least(1, "batch_size", arguments.batch_size);
  at_least(0, "num_threads", arguments.num_threads);
  check_length(arguments.max_seq_length);
}

}  // namespace ranktune::cli
