// Whole jobs on the tiny BERT of tests/fixtures, held against what transformers.Trainer did with the same
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "ranktune/core/json.h"
#include "ranktune/train/text_classification.h"
#include "support/fixture.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;
using tests::TrainingRun;

/// A flag of the fixture, or its default.
template <typename Value>
void take(const nlohmann::json& flags, const char* name, Value& value) {
  if (flags.contains(name)) value = flags.at(name).get<Value>();
}

TextClassificationArguments arguments_of(const TrainingRun& run, const fs::path& output) {
  const nlohmann::json& flags = run.arguments;
  TextClassificationArguments arguments;
  arguments.model.model_name_or_path = tests::fixture_path("tiny_bert");
  arguments.data.train_file = tests::fixture_path("training/train.csv");
  arguments.data.validation_file = tests::fixture_path("training/dev.csv");
  take(flags, "max_seq_length", arguments.data.max_seq_length);
  arguments.data.max_train_samples = flags.at("max_train_samples").get<std::int64_t>();
  TrainingArguments& training = arguments.training;
  training.output_dir = output;
  training.do_train = training.do_eval = true;
  training.use_cpu = true;
  training.num_threads = 1;  // so little work is slower with more
  training.logging_steps = 1;
  training.save_strategy = IntervalStrategy::no;
  take(flags, "seed", training.seed);
  take(flags, "num_train_epochs", training.num_train_epochs);
  take(flags, "max_steps", training.max_steps);
  take(flags, "learning_rate", training.learning_rate);
  take(flags, "weight_decay", training.weight_decay);
  take(flags, "adam_beta1", training.adam_beta1);
  take(flags, "adam_beta2", training.adam_beta2);
  take(flags, "adam_epsilon", training.adam_epsilon);
  take(flags, "warmup_steps", training.warmup_steps);
  take(flags, "max_grad_norm", training.max_grad_norm);
  take(flags, "per_device_train_batch_size", training.per_device_train_batch_size);
  take(flags, "gradient_accumulation_steps", training.gradient_accumulation_steps);
  take(flags, "label_smoothing_factor", training.label_smoothing_factor);
  if (flags.contains("lr_scheduler_type"))
    training.lr_scheduler_type =
        flags.at("lr_scheduler_type") == "cosine" ? SchedulerType::cosine : SchedulerType::constant;
  return arguments;
}

void expect_same_history(const nlohmann::json& entries, const TrainingRun& run) {
  ASSERT_EQ(entries.size(), run.history.size() + 1);  // the last entry sums up
  for (std::size_t i = 0; i < run.history.size(); ++i) {
    const tests::LoggedStep& expected = run.history[i];
    SCOPED_TRACE("update " + std::to_string(expected.step));
    EXPECT_EQ(entries[i].at("step"), expected.step);
    EXPECT_DOUBLE_EQ(entries[i].at("epoch").get<double>(), expected.epoch);
    EXPECT_DOUBLE_EQ(entries[i].at("learning_rate").get<double>(), expected.learning_rate);
    EXPECT_NEAR(entries[i].at("loss").get<double>(), expected.loss, 2e-5 * expected.loss);
    EXPECT_NEAR(entries[i].at("grad_norm").get<double>(), expected.grad_norm, 2e-4 * expected.grad_norm);
  }
}

/// |ours - theirs| / |theirs| over all tensors together. `skip`: names that contain it are left out.
double distance(const fs::path& ours, const fs::path& theirs, const std::string& skip) {
  const auto own = tests::read_tensors(ours), expected = tests::read_tensors(theirs);
  EXPECT_EQ(own.size(), expected.size());
  double difference = 0, norm = 0;
  for (const auto& [name, tensor] : expected) {
    if (!skip.empty() && name.find(skip) != std::string::npos) continue;
    const std::vector<float>& values = own.at(name).values;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      difference += std::pow(static_cast<double>(values.at(i)) - tensor.values[i], 2);
      norm += std::pow(static_cast<double>(tensor.values[i]), 2);
    }
  }
  return std::sqrt(difference / norm);
}

class GoldenRun : public testing::Test {
 protected:
  void train(const std::string& name) {
    const TrainingRun run = tests::read_training_run(name);
    core::NullLogger logger;
    Observer observer;
    run_text_classification(arguments_of(run, output()), logger, observer);
    const nlohmann::json state = core::read_json_file(output() / "trainer_state.json");
    expect_same_history(state.at("log_history"), run);
    const nlohmann::json results = core::read_json_file(output() / "all_results.json");
    EXPECT_NEAR(results.at("train_loss").get<double>(), run.train_loss, 2e-5 * run.train_loss);
    EXPECT_DOUBLE_EQ(results.at("epoch").get<double>(), run.epoch);
    EXPECT_NEAR(results.at("eval_loss").get<double>(), run.loss_after, 1e-4 * run.loss_after);
    EXPECT_NEAR(results.at("eval_accuracy").get<double>(), run.accuracy_after, 1e-9);
  }
  fs::path output() const { return temporary_.path() / "run"; }
  double weights_apart(const std::string& name, const std::string& skip = "") const {
    return distance(output() / "model.safetensors",
                    tests::fixture_path("training/" + name + "_weights.safetensors"), skip);
  }

 private:
  tests::TemporaryFolder temporary_;
};

TEST_F(GoldenRun, LinearScheduleWithWarmUpAndClipping) {
  train("golden");
  EXPECT_LT(weights_apart("golden"), 1e-4);
}

TEST_F(GoldenRun, AccumulationMakesTheSameUpdates) {
  train("golden_accumulated");
  EXPECT_LT(weights_apart("golden"), 1e-4);
}

TEST_F(GoldenRun, ConstantRateWithoutClipping) {
  train("constant");
}

TEST_F(GoldenRun, SmoothedLabelsAndACosine) {
  train("smoothed");
}

TEST_F(GoldenRun, ShortLastBatchAndAFractionOfAnEpoch) {
  train("ragged");
  // The true gradient of the keys' biases is 0: their values are noise, see tests/fixtures/README.md.
  EXPECT_LT(weights_apart("ragged", "attention.self.key.bias"), 1e-4);
}

}  // namespace
}  // namespace ranktune::train
