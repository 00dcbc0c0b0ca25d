// run_text_classification: files in, files out, and what it says about bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/train/text_classification.h"
#include "support/error_text.h"
#include "support/fixture.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Messages final : core::Logger {
  void info(std::string_view message) override { text += std::string(message) + "\n"; }
  void warning(std::string_view message) override { text += "warning: " + std::string(message) + "\n"; }
  std::string text;
};

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

class JobTest : public testing::Test {
 protected:
  JobTest() {
    arguments.model.model_name_or_path = tests::fixture_path("tiny_bert");
    arguments.data.train_file = tests::fixture_path("training/train.csv");
    arguments.data.validation_file = tests::fixture_path("training/dev.csv");
    arguments.data.max_seq_length = 16;
    arguments.training.output_dir = folder.path() / "deep" / "run";
    arguments.training.do_train = arguments.training.do_eval = true;
    arguments.training.use_cpu = true;
    arguments.training.num_threads = 1;  // so little work is slower with more
    arguments.training.num_train_epochs = 1;
    arguments.training.save_strategy = IntervalStrategy::no;
  }

  JobReport run() {
    Observer observer;
    return run_text_classification(arguments, messages, observer);
  }
  template <typename Expected>
  std::string error() {
    return tests::error_text<Expected>([&] { run(); });
  }
  nlohmann::json result(const std::string& name) const {
    return core::read_json_file(arguments.training.output_dir / name);
  }
  std::string text(const std::string& name) const {
    return core::read_file(arguments.training.output_dir / name);
  }
  bool wrote_something() const { return fs::exists(arguments.training.output_dir); }

  tests::TemporaryFolder folder;
  TextClassificationArguments arguments;
  Messages messages;
};

TEST_F(JobTest, LeavesTheFilesOfTheTrainer) {
  arguments.training.do_predict = true;
  arguments.training.logging_steps = 1;
  arguments.training.eval_strategy = IntervalStrategy::epoch;
  arguments.data.test_file = arguments.data.validation_file;
  const JobReport report = run();
  EXPECT_THAT(files_in(arguments.training.output_dir),
              ElementsAre("all_results.json", "config.json", "eval_results.json", "model.safetensors",
                          "predict_results.txt", "tokenizer.json", "tokenizer_config.json",
                          "train_results.json", "trainer_state.json", "vocab.txt"));
  const nlohmann::json keys = tests::read_fixture("training/keys.json");
  for (const char* name :
       {"all_results.json", "train_results.json", "eval_results.json", "trainer_state.json"})
    EXPECT_EQ(keys_of(result(name)), keys.at(name).get<std::set<std::string>>()) << name;
  EXPECT_EQ(result("config.json").at("label2id"), (nlohmann::json{{"glad", 0}, {"sad", 1}}));
  EXPECT_EQ(report.classes.size(), 2U);
  EXPECT_EQ(report.classes[0].label, "glad");
  EXPECT_GT(report.seconds_to_first_step, 0);
  EXPECT_EQ(result("all_results.json").at("eval_samples"), 21);
  EXPECT_EQ(result("all_results.json").at("train_samples"), 64);
}

TEST_F(JobTest, StateHoldsTheEvaluationsOfTrainingButNotTheLastOne) {
  arguments.training.eval_strategy = IntervalStrategy::steps;
  arguments.training.eval_steps = 0.5;
  arguments.training.num_train_epochs = 1;
  run();
  const nlohmann::json history = result("trainer_state.json").at("log_history");
  ASSERT_EQ(history.size(), 3U);  // 8 updates: evaluations after 4 and 8, then the summary
  EXPECT_EQ(history[0].at("step"), 4);
  EXPECT_EQ(history[1].at("step"), 8);
  EXPECT_EQ(keys_of(history[1]),
            (std::set<std::string>{"epoch", "eval_accuracy", "eval_loss", "eval_runtime",
                                   "eval_samples_per_second", "eval_steps_per_second", "step"}));
  EXPECT_TRUE(history[2].contains("train_runtime"));
  EXPECT_DOUBLE_EQ(history[1].at("eval_loss"), result("eval_results.json").at("eval_loss"));
}

TEST_F(JobTest, PredictsTheRowsOfTheTestFileInOrder) {
  arguments.training.do_predict = true;
  arguments.training.do_eval = false;
  arguments.training.max_steps = 40;
  arguments.training.learning_rate = 0.004;
  arguments.data.test_file = folder.file("test.csv", "sentence\nfine sweet\nbitter\nsweet\n");
  run();
  const std::string predictions = text("predict_results.txt");
  EXPECT_THAT(predictions,
              testing::MatchesRegex("index\tprediction\n0\t(glad|sad)\n1\t(glad|sad)\n2\t(glad|sad)\n"));
}

TEST_F(JobTest, MeasuresATrainedModelAlone) {
  const double trained = [&] {
    run();
    return result("eval_results.json").at("eval_loss").get<double>();
  }();
  arguments.model.model_name_or_path = arguments.training.output_dir;
  arguments.training.output_dir = folder.path() / "measured";
  arguments.training.do_train = false;
  arguments.training.per_device_eval_batch_size = 5;
  const JobReport report = run();
  EXPECT_NEAR(result("eval_results.json").at("eval_loss").get<double>(), trained, 1e-6);
  EXPECT_THAT(files_in(arguments.training.output_dir), ElementsAre("all_results.json", "eval_results.json"));
  EXPECT_TRUE(report.train_metrics.empty());
}

TEST_F(JobTest, GoesOnFromACheckpointWithTheSameLabels) {
  run();
  arguments.model.model_name_or_path = arguments.training.output_dir;
  arguments.training.output_dir = folder.path() / "second";
  messages.text.clear();
  run();
  EXPECT_THAT(messages.text, testing::Not(HasSubstr("random")));
  EXPECT_EQ(result("config.json").at("label2id"), (nlohmann::json{{"glad", 0}, {"sad", 1}}));
}

TEST_F(JobTest, SaysWhichParametersAreNew) {
  run();
  EXPECT_THAT(messages.text, HasSubstr("not in the checkpoint, so they start from random values: "
                                       "classifier.weight, classifier.bias"));
}

TEST_F(JobTest, LearnsNumbersFromAFloatColumn) {
  arguments.data.train_file =
      folder.file("train.csv", "sentence,label\nfine,1.5\nbitter,0.25\nsweet,2\nsad,0\n");
  arguments.data.validation_file = folder.file("dev.csv", "sentence,label\nfine,1.5\nbitter,0.25\n");
  arguments.data.test_file = arguments.data.validation_file;
  arguments.training.do_predict = true;
  run();
  EXPECT_TRUE(result("eval_results.json").contains("eval_mse"));
  EXPECT_FALSE(result("eval_results.json").contains("eval_accuracy"));
  EXPECT_EQ(result("config.json").at("problem_type"), "regression");
  EXPECT_EQ(result("config.json").at("id2label").size(), 1U);
  EXPECT_THAT(text("predict_results.txt"),
              testing::MatchesRegex(
                  "index\tprediction\n0\t-?[0-9]+\\.[0-9][0-9][0-9]\n1\t-?[0-9]+\\.[0-9][0-9][0-9]\n"));
}

TEST_F(JobTest, RefusesToSmoothNumbers) {
  arguments.data.train_file = folder.file("train.csv", "sentence,label\nfine,1.5\nbitter,0.25\n");
  arguments.data.validation_file = arguments.data.train_file;
  arguments.training.label_smoothing_factor = 0.1;
  EXPECT_THAT(error<UsageError>(), HasSubstr("--label_smoothing_factor is for classes"));
  EXPECT_FALSE(wrote_something());
}

TEST_F(JobTest, AddsALabelThatOnlyTheValidationFileHas) {
  arguments.data.validation_file = folder.file("dev.csv", "sentence,label\nfine,glad\nbitter,angry\n");
  run();
  EXPECT_THAT(messages.text, AllOf(HasSubstr("warning: "), HasSubstr("angry")));
  EXPECT_EQ(result("config.json").at("label2id"), (nlohmann::json{{"angry", 0}, {"glad", 1}, {"sad", 2}}));
}

TEST_F(JobTest, LeavesAFolderThatIsNotEmptyAloneUnlessToldTo) {
  arguments.training.output_dir = folder.file("run/notes.txt", "mine").parent_path();
  EXPECT_THAT(error<UsageError>(), AllOf(HasSubstr("not empty"), HasSubstr("--overwrite_output_dir")));
  EXPECT_THAT(files_in(arguments.training.output_dir), ElementsAre("notes.txt"));
  arguments.training.overwrite_output_dir = true;
  run();
  EXPECT_TRUE(fs::exists(arguments.training.output_dir / "model.safetensors"));
  EXPECT_TRUE(fs::exists(arguments.training.output_dir / "notes.txt"));
}

TEST_F(JobTest, RefusesAnOutputFolderThatCannotBeMade) {
  arguments.training.output_dir = folder.file("file", "no folder") / "run";
  EXPECT_THAT(error<UsageError>(), AllOf(StartsWith("--output_dir "), HasSubstr("is no folder")));
}

TEST_F(JobTest, RefusesBadInputBeforeAnythingIsWritten) {
  const fs::path good = *arguments.data.train_file;
  arguments.data.label_column_name = "lable";
  EXPECT_THAT(error<DataError>(), AllOf(HasSubstr("train.csv:1"), HasSubstr("'label'")));
  arguments.data.label_column_name.reset();
  arguments.data.train_file = folder.file("one.csv", "sentence,label\nfine,glad\ngood,glad\n");
  EXPECT_THAT(error<DataError>(), HasSubstr("all 2 rows have the label 'glad'"));
  arguments.data.train_file = folder.file("empty.csv", "");
  EXPECT_THAT(error<DataError>(), HasSubstr("empty.csv"));
  arguments.data.train_file = folder.path() / "absent.csv";
  EXPECT_THAT(error<DataError>(), HasSubstr("absent.csv"));
  arguments.data.train_file = good;
  arguments.model.model_name_or_path = folder.path() / "absent";
  EXPECT_THAT(error<DataError>(), HasSubstr("config.json"));
  EXPECT_FALSE(wrote_something());
}

TEST_F(JobTest, RefusesATokenizerThatIsTooLargeForTheEmbedding) {
  const fs::path model = folder.path() / "model";
  fs::copy(tests::fixture_path("tiny_bert"), model);
  nlohmann::json config = core::read_json_file(model / "config.json");
  config["vocab_size"] = 50;
  core::write_file_atomically(model / "config.json", config.dump());
  arguments.model.model_name_or_path = model;
  EXPECT_THAT(error<CheckpointError>(), HasSubstr("the embedding has only 50 rows"));
  EXPECT_FALSE(wrote_something());
}

TEST_F(JobTest, RefusesTornWeights) {
  const fs::path model = folder.path() / "model";
  fs::copy(tests::fixture_path("tiny_bert"), model);
  fs::resize_file(model / "model.safetensors", 1000);
  arguments.model.model_name_or_path = model;
  EXPECT_THAT(error<DataError>(), HasSubstr("model.safetensors"));
  EXPECT_FALSE(wrote_something());
}

TEST_F(JobTest, WritesCheckpointsThatTrainOn) {
  arguments.training.save_strategy = IntervalStrategy::epoch;
  arguments.training.num_train_epochs = 2;
  run();
  const fs::path checkpoint = arguments.training.output_dir / "checkpoint-8";
  EXPECT_THAT(files_in(checkpoint), ElementsAre("config.json", "model.safetensors", "tokenizer.json",
                                                "tokenizer_config.json", "trainer_state.json", "vocab.txt"));
  EXPECT_TRUE(fs::exists(arguments.training.output_dir / "checkpoint-16"));
  arguments.model.model_name_or_path = checkpoint;
  arguments.training.output_dir = folder.path() / "second";
  run();
}

TEST_F(JobTest, DoesNotDependOnTheNumberOfThreadsOrTheSplitOfABatch) {
  const fs::path model = folder.path() / "model";
  fs::copy(tests::fixture_path("tiny_bert"), model);
  nlohmann::json config = core::read_json_file(model / "config.json");
  config["hidden_dropout_prob"] = config["attention_probs_dropout_prob"] = 0.1;
  core::write_file_atomically(model / "config.json", config.dump());
  arguments.model.model_name_or_path = model;
  arguments.training.logging_steps = 1;
  arguments.training.max_steps = 20;
  arguments.training.learning_rate = 0.002;
  struct Split {
    std::int64_t threads, batch, accumulation;
  };
  std::vector<std::vector<double>> losses;
  for (const Split& split : {Split{1, 32, 1}, Split{2, 32, 1}, Split{1, 8, 4}}) {
    arguments.training.num_threads = split.threads;
    arguments.training.per_device_train_batch_size = split.batch;
    arguments.training.gradient_accumulation_steps = split.accumulation;
    arguments.training.output_dir = folder.path() / ("run" + std::to_string(losses.size()));
    run();
    losses.emplace_back();
    const nlohmann::json state = result("trainer_state.json");
    for (const auto& entry : state.at("log_history"))
      if (entry.contains("loss")) losses.back().push_back(entry.at("loss").get<double>());
    ASSERT_EQ(losses.back().size(), 20U);
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_NEAR(losses.back()[i], losses.front()[i], 1e-4 * losses.front()[i]) << "update " << i + 1;
  }
}

}  // namespace
}  // namespace ranktune::train
