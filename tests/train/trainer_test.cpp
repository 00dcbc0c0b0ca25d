#include "ranktune/train/trainer.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/train/evaluate.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "train/fake_classifier.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using tests::FakeClassifier;
using tests::numbered_rows;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Messages final : core::Logger {
  void info(std::string_view) override {}
  void warning(std::string_view message) override { warnings.emplace_back(message); }
  std::vector<std::string> warnings;
};

/// A run of the fake model over numbered rows, and what is left of it.
struct TrainingRun {
  explicit TrainingRun(Dataset rows, std::int64_t labels = 2)
      : train(std::move(rows)), model(train.rows(), labels) {
    at::set_num_threads(1);  // so little work is slower with more
    arguments.per_device_train_batch_size = 4;
    arguments.learning_rate = 1e-3;
    arguments.logging_steps = 1;
    arguments.save_strategy = IntervalStrategy::no;
  }

  TrainOutcome start() {
    Observer observer;
    Trainer trainer(
        {.model = model,
         .train = train,
         .validation = &train,
         .logger = messages,
         .observer = observer,
         .save_model =
             [](const fs::path& folder) { core::write_file_atomically(folder / "model", "weights"); }},
        arguments);
    return trainer.run();
  }

  std::vector<std::vector<std::int64_t>> batches() const {
    std::vector<std::vector<std::int64_t>> ids;
    for (const tests::SeenBatch& batch : model.seen) ids.push_back(batch.first_ids);
    return ids;
  }

  Dataset train;
  FakeClassifier model;
  TrainingArguments arguments;
  Messages messages;
};

double number(const Figures& entry, const std::string& name) {
  for (const auto& [key, figure] : entry)
    if (key == name) return std::visit([](auto value) { return static_cast<double>(value); }, figure);
  return kNaN;
}

std::vector<std::string> names_of(const Figures& entry) {
  std::vector<std::string> names;
  for (const auto& [name, figure] : entry) names.push_back(name);
  return names;
}

/// One figure of all entries that have it.
std::vector<double> column(const TrainOutcome& outcome, const std::string& name, const std::string& beside) {
  std::vector<double> values;
  for (const Figures& entry : outcome.state.log_history)
    if (!std::isnan(number(entry, beside))) values.push_back(number(entry, name));
  return values;
}

// transformers 5.24 with n = 10, b = 4, seed 42, max_steps 7.
TEST(Trainer, VisitsTheRowsInTheTrainersOrderAndStopsInsideAnEpoch) {
  TrainingRun run(numbered_rows(10));
  run.arguments.max_steps = 7;
  const TrainOutcome outcome = run.start();
  const std::vector<std::vector<std::int64_t>> expected = {
      {2, 6, 1, 8}, {4, 5, 0, 9}, {3, 7}, {8, 4, 9, 0}, {5, 1, 6, 7}, {2, 3}, {2, 6, 3, 8}};
  EXPECT_EQ(run.batches(), expected);
  EXPECT_EQ(outcome.state.num_train_epochs, 3);
  EXPECT_EQ(outcome.state.global_step, 7);
  EXPECT_DOUBLE_EQ(outcome.state.epoch, 2 + 1.0 / 3);
}

TEST(Trainer, TellsTheModelWhereARowStandsInItsUpdate) {
  TrainingRun run(numbered_rows(7));
  run.arguments.per_device_train_batch_size = 2;
  run.arguments.gradient_accumulation_steps = 2;
  run.arguments.num_train_epochs = 1;
  run.arguments.seed = 5;
  run.start();
  ASSERT_EQ(run.model.seen.size(), 4U);
  const std::vector<std::vector<std::int64_t>> places = {{0, 1}, {2, 3}, {0, 1}, {2}};
  const std::vector<std::uint64_t> steps = {0, 0, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run.model.seen[i].places, places[i]);
    EXPECT_EQ(run.model.seen[i].step, steps[i]);
    EXPECT_EQ(run.model.seen[i].seed, 5U);
  }
}

TEST(Trainer, GivesTheDataASeedOfItsOwn) {
  TrainingRun run(numbered_rows(10));
  run.arguments.data_seed = 1;
  run.arguments.max_steps = 1;
  run.start();
  EXPECT_THAT(run.batches(), ElementsAre(ElementsAre(5, 6, 1, 2)));
}

TEST(Trainer, GroupsByLengthOverTheRowsOfAnUpdate) {
  const std::vector<std::int64_t> lengths = {5, 9, 3, 12, 7, 7, 4, 10, 6, 8};
  TrainingRun run(numbered_rows(10, lengths));
  run.arguments.group_by_length = true;
  run.arguments.num_train_epochs = 2;
  run.start();
  // The order of the Trainer's function for B = 4, with seeds 42 and 43.
  const std::vector<std::vector<std::int64_t>> expected = {{3, 8, 6, 2}, {9, 4, 5, 0}, {1, 7},
                                                           {3, 4, 8, 0}, {7, 1, 5, 6}, {9, 2}};
  EXPECT_EQ(run.batches(), expected);
}

TEST(Trainer, LeavesTheLastRowsOutWhenToldTo) {
  TrainingRun run(numbered_rows(10));
  run.arguments.dataloader_drop_last = true;
  run.arguments.num_train_epochs = 1;
  EXPECT_EQ(run.start().state.global_step, 2);
  run.arguments.per_device_train_batch_size = 11;
  EXPECT_THROW(run.start(), UsageError);
}

// 10 rows in updates of 4, 4 and 2: however an update is split, it is the mean over its rows.
TEST(Trainer, MakesTheSameUpdatesHoweverTheyAreSplit) {
  TrainingRun whole(numbered_rows(10, {1, 2, 3, 1, 5, 2, 1, 3, 2, 4}));
  const TrainOutcome expected = whole.start();
  for (const std::int64_t batch : {1, 2}) {
    TrainingRun split(numbered_rows(10, {1, 2, 3, 1, 5, 2, 1, 3, 2, 4}));
    split.arguments.per_device_train_batch_size = batch;
    split.arguments.gradient_accumulation_steps = 4 / batch;
    const TrainOutcome outcome = split.start();
    EXPECT_THAT(column(outcome, "loss", "loss"),
                testing::Pointwise(testing::DoubleNear(1e-6), column(expected, "loss", "loss")));
    EXPECT_THAT(column(outcome, "grad_norm", "loss"),
                testing::Pointwise(testing::DoubleNear(1e-5), column(expected, "grad_norm", "loss")));
    EXPECT_THAT(split.model.weights(), testing::Pointwise(testing::FloatNear(1e-6F), whole.model.weights()));
  }
}

TEST(Trainer, LearnsFromTheMeanLossOverTheRowsOfAnUpdate) {
  TrainingRun run(numbered_rows(10, {1, 2, 3, 1, 5, 2, 1, 3, 2, 4}));
  Observer observer;
  const double before = predict(run.model, run.train, {.batch_size = 3}, observer).loss;
  run.arguments.per_device_train_batch_size = 4;
  run.arguments.gradient_accumulation_steps = 3;  // one update: micro-batches of 4, 4 and 2 rows
  run.arguments.num_train_epochs = 1;
  const TrainOutcome outcome = run.start();
  EXPECT_NEAR(number(outcome.state.log_history.front(), "loss"), before, 1e-6);
  EXPECT_NEAR(number(outcome.figures, "train_loss"), before, 1e-6);
}

// transformers 5.24: T = 6, warm-up 3, rate 1e-3.
TEST(Trainer, LogsTheRateThatAnUpdateUsed) {
  TrainingRun run(numbered_rows(8));
  run.arguments.max_steps = 6;
  run.arguments.warmup_steps = 3;
  const TrainOutcome outcome = run.start();
  const std::vector<double> rates = column(outcome, "learning_rate", "loss");
  ASSERT_EQ(rates.size(), 6U);
  const std::vector<double> expected = {0, 1e-3 / 3, 2e-3 / 3, 1e-3, 2e-3 / 3, 1e-3 / 3};
  for (std::size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-12);
}

TEST(Trainer, LogsMeansSinceTheLastLog) {
  TrainingRun every(numbered_rows(10));
  every.arguments.num_train_epochs = 2;
  const std::vector<double> losses = column(every.start(), "loss", "loss");
  ASSERT_EQ(losses.size(), 6U);

  TrainingRun sparse(numbered_rows(10));
  sparse.arguments.num_train_epochs = 2;
  sparse.arguments.logging_steps = 4;
  sparse.arguments.logging_first_step = true;
  const TrainOutcome outcome = sparse.start();
  ASSERT_EQ(outcome.state.log_history.size(), 3U);
  const Figures& second = outcome.state.log_history[1];
  EXPECT_THAT(names_of(second), ElementsAre("loss", "grad_norm", "learning_rate", "epoch", "step"));
  EXPECT_DOUBLE_EQ(number(second, "loss"), (losses[1] + losses[2] + losses[3]) / 3);
  EXPECT_DOUBLE_EQ(number(second, "epoch"), 1 + 1.0 / 3);
  EXPECT_EQ(number(second, "step"), 4);
  EXPECT_THAT(names_of(outcome.state.log_history.back()),
              ElementsAre("train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos",
                          "train_loss", "epoch", "step"));
  EXPECT_DOUBLE_EQ(number(outcome.figures, "train_loss"),
                   (losses[0] + losses[1] + losses[2] + losses[3] + losses[4] + losses[5]) / 6);
}

TEST(Trainer, LogsOnceAnEpochWhenToldTo) {
  TrainingRun run(numbered_rows(10));
  run.arguments.logging_strategy = IntervalStrategy::epoch;
  run.arguments.num_train_epochs = 1.5;
  const TrainOutcome outcome = run.start();
  EXPECT_THAT(column(outcome, "step", "loss"), ElementsAre(3, 5));
}

TEST(Trainer, EvaluatesAtItsTimesAndAfterTheLastUpdate) {
  TrainingRun run(numbered_rows(10));
  run.arguments.max_steps = 5;
  run.arguments.eval_strategy = IntervalStrategy::steps;
  run.arguments.eval_steps = 2;
  const TrainOutcome outcome = run.start();
  EXPECT_THAT(column(outcome, "step", "eval_loss"), ElementsAre(2, 4, 5));
  const Figures& first = outcome.state.log_history[2];  // after the logs of updates 1 and 2
  EXPECT_THAT(names_of(first),
              ElementsAre("eval_loss", "eval_accuracy", "eval_runtime", "eval_samples_per_second",
                          "eval_steps_per_second", "epoch", "step"));
}

TEST(Trainer, EvaluatesAtTheEndOfABrokenOffEpoch) {
  TrainingRun run(numbered_rows(10));
  run.arguments.num_train_epochs = 1.5;
  run.arguments.eval_strategy = IntervalStrategy::epoch;
  EXPECT_THAT(column(run.start(), "step", "eval_loss"), ElementsAre(3, 5));
}

TEST(Trainer, SavesWholeCheckpointsAtItsTimes) {
  const tests::TemporaryFolder temporary;
  TrainingRun run(numbered_rows(10));
  run.arguments.output_dir = temporary.path();
  run.arguments.save_strategy = IntervalStrategy::steps;
  run.arguments.save_steps = 2;
  run.arguments.num_train_epochs = 1;
  run.start();
  for (const char* name : {"checkpoint-2", "checkpoint-3"}) {
    EXPECT_TRUE(fs::exists(temporary.path() / name / "model")) << name;
    EXPECT_TRUE(fs::exists(temporary.path() / name / "trainer_state.json")) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), fs::directory_iterator()), 2);
  const nlohmann::json state = core::read_json_file(temporary.path() / "checkpoint-2" / "trainer_state.json");
  EXPECT_EQ(state.at("global_step"), 2);
  EXPECT_EQ(state.at("max_steps"), 3);
  EXPECT_EQ(state.at("save_steps"), 2);
  EXPECT_EQ(state.at("log_history").size(), 2U);
  EXPECT_TRUE(state.at("log_history").back().contains("grad_norm"));
}

TEST(Trainer, FollowsTheScheduleItIsGiven) {
  TrainingRun run(numbered_rows(10));
  run.arguments.max_steps = 4;
  run.arguments.warmup_steps = 1;
  run.arguments.lr_scheduler_type = SchedulerType::polynomial;
  run.arguments.lr_scheduler_kwargs = {.lr_end = 1e-4};
  EXPECT_THAT(column(run.start(), "learning_rate", "learning_rate"),
              Pointwise(DoubleNear(1e-15), {0.0, 1e-3, 7e-4, 4e-4}));
}

TEST(Trainer, LowersItsRateWhereEvaluationsStopImproving) {
  TrainingRun run(numbered_rows(10));
  run.arguments.max_steps = 5;
  run.arguments.eval_strategy = IntervalStrategy::steps;
  run.arguments.eval_steps = 1;
  run.arguments.lr_scheduler_type = SchedulerType::reduce_lr_on_plateau;
  // No loss falls by so much: the first evaluation is the best.
  run.arguments.lr_scheduler_kwargs = {
      .factor = 0.5, .patience = 0, .threshold = 100, .threshold_mode = "abs"};
  EXPECT_THAT(column(run.start(), "learning_rate", "learning_rate"),
              Pointwise(DoubleNear(1e-15), {1e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4}));
}

TEST(Trainer, StopsBeforeAnUpdateThatIsNotFiniteAndKeepsWhatWasSaved) {
  const tests::TemporaryFolder temporary;
  TrainingRun good(numbered_rows(10)), bad(numbered_rows(10));
  good.arguments.max_steps = bad.arguments.max_steps = 6;
  good.arguments.lr_scheduler_type = bad.arguments.lr_scheduler_type = SchedulerType::constant;
  bad.model.factors[2] = kNaN;
  bad.arguments.output_dir = temporary.path();
  bad.arguments.save_strategy = IntervalStrategy::steps;
  bad.arguments.save_steps = 2;
  const std::string message = tests::error_text<TrainingError>([&] { bad.start(); });
  EXPECT_THAT(message, HasSubstr("update 3: the loss is NaN"));
  EXPECT_THAT(message, HasSubstr("--on_nonfinite report"));
  EXPECT_TRUE(fs::exists(temporary.path() / "checkpoint-2" / "model"));
  good.arguments.max_steps = 2;
  good.start();
  EXPECT_EQ(bad.model.weights(), good.model.weights());
}

TEST(Trainer, StopsAtAGradientThatIsNotFinite) {
  TrainingRun run(numbered_rows(10));
  run.model.factors[1] = 1e30;  // the loss is large but finite, the norm of the gradient overflows
  EXPECT_THAT(tests::error_text<TrainingError>([&] { run.start(); }),
              HasSubstr("update 2: the gradient norm is Infinity"));
}

TEST(Trainer, GoesOnAndSaysSoWhenToldToReport) {
  TrainingRun run(numbered_rows(10));
  run.model.factors[1] = kNaN;
  run.arguments.max_steps = 3;
  run.arguments.on_nonfinite = OnNonfinite::report;
  const TrainOutcome outcome = run.start();
  EXPECT_EQ(outcome.state.global_step, 3);
  ASSERT_EQ(run.messages.warnings.size(), 2U);
  EXPECT_THAT(run.messages.warnings[0], HasSubstr("update 2: the loss is NaN"));
  EXPECT_THAT(run.messages.warnings[1], HasSubstr("2 of 3 updates"));
  EXPECT_TRUE(std::isfinite(column(outcome, "loss", "loss")[0]));
}

TEST(TrainingFlops, CountAllParametersButEmbeddings) {
  const models::NamedTensors parameters = {{"bert.embeddings.word_embeddings.weight", at::zeros({10, 4})},
                                           {"bert.embeddings.LayerNorm.weight", at::zeros({4})},
                                           {"classifier.weight", at::zeros({2, 4})}};
  EXPECT_EQ(training_flos_per_token(parameters), 6 * (4 + 8));
}

TEST(Trainer, LearnsNumbers) {
  Dataset rows = numbered_rows(8);
  rows.classes.clear();
  for (int i = 0; i < 8; ++i) rows.targets.push_back(0.25F * static_cast<float>(i));
  TrainingRun run(std::move(rows), 1);
  run.arguments.max_steps = 200;
  run.arguments.learning_rate = 0.05;
  const TrainOutcome outcome = run.start();
  const std::vector<double> losses = column(outcome, "loss", "loss");
  EXPECT_LT(losses.back(), 0.01 * losses.front());
  Observer observer;
  const Predictions after = predict(run.model, run.train, {.batch_size = 3}, observer);
  const Evaluation evaluation = measure(after, run.train, {});
  EXPECT_NEAR(number(evaluation.figures, "eval_mse"), number(evaluation.figures, "eval_loss"), 1e-7);
  EXPECT_TRUE(evaluation.classes.empty());
}

/// Remembers what was shown.
struct Watch final : Observer {
  void progress(const Progress& progress) override { last = progress; }
  void phase_finished(Progress::Phase) override { ++finished; }
  Progress last;
  int finished = 0;
};

TEST(Predict, KeepsTheOrderOfTheFileAndTheExactMean) {
  const Dataset rows = numbered_rows(7, {1, 2, 3, 1, 5, 2, 1});
  const FakeClassifier model(7, 3);
  Watch watch;
  const Predictions whole = predict(model, rows, {.batch_size = 7}, watch);
  const Predictions parts = predict(model, rows, {.batch_size = 2}, watch);
  EXPECT_EQ(parts.rows(), 7);
  EXPECT_EQ(parts.speed.steps, 4);
  EXPECT_THAT(parts.logits, testing::Pointwise(testing::FloatNear(1e-6F), whole.logits));
  EXPECT_NEAR(parts.loss, whole.loss, 1e-6);
  EXPECT_EQ(watch.last.done, 7);
  EXPECT_EQ(watch.last.total, 7);
  EXPECT_EQ(watch.finished, 2);
}

TEST(Measure, CountsByClass) {
  Dataset rows = numbered_rows(4);  // classes 0 1 0 1
  const Predictions predictions{.num_labels = 2, .logits = {1, 0, 1, 0, 0, 1, 0, 1}, .loss = 0.5};  // 0 0 1 1
  const Evaluation evaluation = measure(predictions, rows, {"sad", "glad"});
  EXPECT_DOUBLE_EQ(number(evaluation.figures, "eval_accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(number(evaluation.figures, "eval_loss"), 0.5);
  ASSERT_EQ(evaluation.classes.size(), 2U);
  EXPECT_EQ(evaluation.classes[1].label, "glad");
  EXPECT_EQ(evaluation.classes[1].support, 2);
  EXPECT_DOUBLE_EQ(evaluation.macro_f1, 0.5);
}

}  // namespace
}  // namespace ranktune::train
