#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/dist/collectives.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/models/config.h"
#include "ranktune/models/sequence_classifier.h"
#include "ranktune/text/tokenizer.h"
#include "ranktune/train/evaluate.h"
#include "ranktune/train/job_data.h"
#include "ranktune/train/machine.h"
#include "ranktune/train/output_folder.h"
#include "ranktune/train/prediction.h"
#include "ranktune/train/task.h"
#include "ranktune/train/text_classification.h"
#include "ranktune/train/trainer.h"

namespace ranktune::train {
namespace {

using MetricList = std::vector<std::pair<std::string, double>>;

/// Sorted by name, as the Trainer prints them.
MetricList to_metrics(const Figures& figures) {
  MetricList metrics;
  for (const auto& [name, figure] : figures)
    metrics.emplace_back(name, std::visit([](auto value) { return static_cast<double>(value); }, figure));
  std::sort(metrics.begin(), metrics.end());
  return metrics;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) list += (i > 0 ? ", " : "") + names[i];
  return names.size() > kShown ? list + ", ... (" + std::to_string(names.size()) + " in all)" : list;
}

/// One run from files to files. The public function below calls its steps in order.
class Job {
 public:
  Job(const TextClassificationArguments& arguments, core::Logger& logger, Observer& observer,
      dist::ProcessGroup* group)
      : arguments_(arguments),
        training_(arguments.training),
        logger_(logger),
        observer_(observer),
        group_(group) {}

  void prepare();
  void train();
  void evaluate();
  void predict_test_file();
  JobReport take_report() { return std::move(report_); }

 private:
  void load(models::LoadOptions options, JobData& data, const text::Tokenizer& tokenizer,
            const TokenLimits& limits);
  void tell_about_model(const models::LoadedModel& loaded);
  void save(const Figures& figures, const TrainerState& state);
  bool writes() const { return group_ == nullptr || group_->rank() == 0; }

  const TextClassificationArguments& arguments_;
  const TrainingArguments& training_;
  core::Logger& logger_;
  Observer& observer_;
  dist::ProcessGroup* group_;
  std::vector<at::Device> devices_;
  data::LabelScheme scheme_;
  std::optional<Dataset> train_, validation_, test_;
  std::unique_ptr<models::SequenceClassifier> model_;
  double epoch_ = 0;
  JobReport report_;
};

void Job::prepare() {
  if (writes()) require_usable_output(training_);
  devices_ = choose_devices(training_);
  const std::filesystem::path& folder = arguments_.model.model_name_or_path;
  require_model_folder(folder, "--model_name_or_path");
  const models::ModelConfig config = models::read_model_config(folder);
  const std::unique_ptr<text::Tokenizer> tokenizer = text::load_tokenizer(folder);
  require_vocabulary_fits(*tokenizer, config, folder);
  JobData data = read_job_data(arguments_, config, logger_);
  scheme_ = data.scheme;
  const TokenLimits limits{
      .max_length = allowed_length(arguments_.data.max_seq_length, *tokenizer, config, logger_),
      .threads = use_threads(training_.num_threads)};
  const bool regression = scheme_.kind == data::TaskKind::regression;
  if (regression && training_.label_smoothing_factor > 0)
    throw UsageError(
        "--label_smoothing_factor is for classes, but the labels are numbers (regression): leave it out");
  load({.labels = regression ? std::vector<std::string>{"LABEL_0"} : scheme_.labels.names(),
        .problem_type = regression ? "regression" : "single_label_classification",
        .seed = static_cast<std::uint64_t>(training_.seed),
        .ignore_mismatched_sizes = arguments_.model.ignore_mismatched_sizes},
       data, *tokenizer, limits);
  if (!writes()) return;
  std::error_code status;
  std::filesystem::create_directories(training_.output_dir, status);
  if (status) throw UsageError("--output_dir " + training_.output_dir.string() + ": " + status.message());
}

/// The weights come from the disk while the texts become tokens.
void Job::load(models::LoadOptions options, JobData& data, const text::Tokenizer& tokenizer,
               const TokenLimits& limits) {
  std::future<models::LoadedModel> loading = std::async(std::launch::async, [this, &options] {
    return models::load_sequence_classifier(arguments_.model.model_name_or_path, options);
  });
  const auto tokenized = [&](std::optional<data::SplitData>& split) {
    return split ? std::optional(tokenize(*split, tokenizer, limits, observer_)) : std::nullopt;
  };
  train_ = tokenized(data.train);
  validation_ = tokenized(data.validation);
  test_ = tokenized(data.test);
  models::LoadedModel loaded = loading.get();
  tell_about_model(loaded);
  model_ = on_devices(std::move(loaded.model), devices_, limits.threads);
}

void Job::tell_about_model(const models::LoadedModel& loaded) {
  if (!loaded.unused.empty()) logger_.info("not used from the checkpoint: " + list_of(loaded.unused));
  if (loaded.initialized.empty()) return;
  const std::string fresh =
      "not in the checkpoint, so they start from random values: " + list_of(loaded.initialized);
  if (training_.do_train)
    logger_.info(fresh);
  else
    logger_.warning(fresh + ": this model has not been trained for this task (--do_train)");
}

void Job::train() {
  const TrainerParts parts{.model = *model_,
                           .train = *train_,
                           .validation = validation_ ? &*validation_ : nullptr,
                           .logger = logger_,
                           .observer = observer_,
                           .save_model =
                               [this](const std::filesystem::path& folder) {
                                 write_model_folder(*model_, arguments_.model.model_name_or_path, folder);
                               },
                           .group = group_};
  Trainer trainer(parts, training_);
  report_.seconds_to_first_step = seconds_since_process_start();
  logger_.info("first update " + three_decimals(static_cast<float>(report_.seconds_to_first_step)) +
               " s after the start of the program");
  TrainOutcome outcome = trainer.run();
  epoch_ = outcome.state.epoch;
  outcome.figures.emplace_back("train_samples", train_->rows());
  report_.train_metrics = to_metrics(outcome.figures);
  save(outcome.figures, outcome.state);
}

void Job::save(const Figures& figures, const TrainerState& state) {
  if (!writes()) return;
  write_model_folder(*model_, arguments_.model.model_name_or_path, training_.output_dir);
  write_results(training_.output_dir, "train", figures);
  core::write_file_atomically(training_.output_dir / "trainer_state.json", to_json(state));
}

void Job::evaluate() {
  const Predictions predictions =
      predict(*model_, *validation_, evaluation_options(training_), observer_, group_);
  Evaluation evaluation = measure(predictions, *validation_, model_->config().id2label);
  evaluation.figures.emplace_back("epoch", epoch_);
  evaluation.figures.emplace_back("eval_samples", validation_->rows());
  if (writes()) write_results(training_.output_dir, "eval", evaluation.figures);
  report_.eval_metrics = to_metrics(evaluation.figures);
  report_.macro_f1 = evaluation.macro_f1;
  report_.classes = std::move(evaluation.classes);
}

void Job::predict_test_file() {
  const Predictions predictions =
      predict(*model_, *test_, {.batch_size = rows_per_pass(training_.per_device_eval_batch_size, training_)},
              observer_, group_);
  if (!writes()) return;
  std::vector<std::string> results;
  for (std::int64_t row = 0; row < predictions.rows(); ++row)
    results.push_back(scheme_.kind == data::TaskKind::regression
                          ? three_decimals(predictions.logits[static_cast<std::size_t>(row)])
                          : scheme_.labels.names()[static_cast<std::size_t>(predictions.best_label(row))]);
  write_predict_results(training_.output_dir, results);
}

}  // namespace

JobReport run_text_classification(const TextClassificationArguments& arguments, core::Logger& logger,
                                  Observer& observer, dist::ProcessGroup* group) {
  Job job(arguments, logger, observer, group);
  if (group == nullptr)
    job.prepare();
  else  // a file that one rank cannot read must not leave the others waiting
    dist::agree(*group, "preparing the job", [&] { job.prepare(); });
  if (arguments.training.do_train) job.train();
  if (arguments.training.do_eval) job.evaluate();
  if (arguments.training.do_predict) job.predict_test_file();
  return job.take_report();
}

}  // namespace ranktune::train
