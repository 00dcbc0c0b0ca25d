#include "ranktune/train/job_data.h"

#include <chrono>
#include <string>
#include <utility>

#include "ranktune/data/columns.h"
#include "ranktune/data/table.h"
#include "ranktune/data/tokenized_split.h"
#include "ranktune/train/task.h"

namespace ranktune::train {
namespace {

constexpr const char* kDefaultLabelColumn = "label";

/// The tables of a job before anything is known about their columns.
struct Tables {
  std::optional<data::Table> train, validation, test;

  const data::Table& first() const { return train ? *train : validation ? *validation : *test; }
};

Tables read_tables(const TextClassificationArguments& arguments) {
  const data::ReadOptions options{.header = !arguments.data.no_header};
  const TrainingArguments& training = arguments.training;
  const bool evaluates =
      training.do_eval || (training.do_train && training.eval_strategy != IntervalStrategy::no);
  Tables tables;
  if (training.do_train) tables.train = data::read_table(arguments.data.train_file.value(), options);
  if (evaluates) tables.validation = data::read_table(arguments.data.validation_file.value(), options);
  if (training.do_predict) tables.test = data::read_table(arguments.data.test_file.value(), options);
  return tables;
}

data::LabelColumn label_column(const data::Table& table, const std::string& name) {
  return {table, data::require_column(table, name, "--label_column_name")};
}

/// The labels to train for: those of the data, under the ids of the checkpoint where it knows them.
data::LabelScheme scheme_to_train(const Tables& tables, const std::string& column,
                                  const models::ModelConfig& checkpoint, core::Logger& logger) {
  const data::LabelColumn train = label_column(*tables.train, column);
  std::optional<data::LabelColumn> validation;
  if (tables.validation) validation = label_column(*tables.validation, column);
  data::LabelScheme scheme = data::infer_labels(train, validation, logger);
  if (scheme.kind == data::TaskKind::regression) return scheme;
  data::require_two_classes(train);
  scheme.labels = data::match_labels(data::LabelSet(checkpoint.id2label), scheme.labels, logger);
  return scheme;
}

/// The labels that a model already has.
data::LabelScheme scheme_of_model(const Tables& tables, const std::string& column,
                                  const models::ModelConfig& checkpoint, data::TaskKind kind,
                                  core::Logger& logger) {
  if (kind == data::TaskKind::regression) return {kind, {}};
  if (!tables.validation) return {kind, data::LabelSet(checkpoint.id2label)};
  const data::LabelScheme found = data::infer_labels(label_column(*tables.validation, column), {}, logger);
  return {kind, labels_of_model(checkpoint, found.labels, logger)};
}

void describe(const char* purpose, const data::SplitData& split, core::Logger& logger) {
  logger.info(std::string(purpose) + ": " + std::to_string(split.rows()) + " rows of " + split.table.name());
}

void describe(const data::LabelScheme& scheme, core::Logger& logger) {
  constexpr std::size_t kShown = 10;
  if (scheme.kind == data::TaskKind::regression) return logger.info("labels: numbers (regression)");
  const std::vector<std::string>& names = scheme.labels.names();
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) list += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kShown) list += ", ...";
  logger.info(std::to_string(names.size()) + " labels: " + list);
}

}  // namespace

JobData read_job_data(const TextClassificationArguments& arguments, const models::ModelConfig& checkpoint,
                      core::Logger& logger) {
  const Tables tables = read_tables(arguments);
  const std::string label = arguments.data.label_column_name.value_or(kDefaultLabelColumn);
  const data::TextColumns text = data::choose_text_columns(
      tables.first(), arguments.data.text_column_names, arguments.data.text_column_delimiter, label, logger);
  JobData job;
  job.scheme = tables.train
                   ? scheme_to_train(tables, label, checkpoint, logger)
                   : scheme_of_model(tables, label, checkpoint,
                                     task_of(checkpoint, arguments.model.model_name_or_path), logger);
  describe(job.scheme, logger);
  const auto load = [&](const char* purpose, const std::optional<data::Table>& table,
                        const data::LabelScheme* scheme, std::optional<std::int64_t> max_samples) {
    std::optional<data::SplitData> split;
    if (!table) return split;
    split = data::load_split(
        *table, {.text = text, .label_column = label, .scheme = scheme, .max_samples = max_samples}, logger);
    describe(purpose, *split, logger);
    return split;
  };
  job.train = load("train", tables.train, &job.scheme, arguments.data.max_train_samples);
  job.validation = load("evaluate", tables.validation, &job.scheme, arguments.data.max_eval_samples);
  job.test = load("predict", tables.test, nullptr, arguments.data.max_predict_samples);
  return job;
}

Dataset tokenize(data::SplitData& split, const text::Tokenizer& tokenizer, const TokenLimits& limits,
                 Observer& observer) {
  const auto started = std::chrono::steady_clock::now();
  const auto show = [&](std::int64_t done, std::int64_t total) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    Progress progress{.phase = Progress::Phase::tokenize, .done = done, .total = total};
    progress.rows_per_second = static_cast<double>(done) / seconds.count();
    progress.seconds_left = static_cast<double>(total - done) / progress.rows_per_second;
    observer.progress(progress);
  };
  Dataset dataset;
  dataset.tokens =
      data::tokenize_split(tokenizer, split.first, split.second,
                           {.max_length = limits.max_length, .threads = limits.threads, .progress = show});
  observer.phase_finished(Progress::Phase::tokenize);
  dataset.classes = std::move(split.classes);
  dataset.targets = std::move(split.targets);
  return dataset;
}

}  // namespace ranktune::train
