// The same job on one rank and on several: decision 2 and 3 of docs/architecture.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/train/text_classification.h"
#include "support/fixture.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

using launch::LaunchEnv;
using tests::RankResult;

struct Split {
  int ranks = 1;
  std::int64_t batch = 32;
  std::int64_t accumulation = 1;
};

class RanksTest : public testing::Test {
 protected:
  RanksTest() {
    std::filesystem::copy(tests::fixture_path("tiny_bert"), model_, std::filesystem::copy_options::recursive);
    std::string config = core::read_file(model_ / "config.json");
    for (const char* key : {"\"hidden_dropout_prob\": ", "\"attention_probs_dropout_prob\": "})
      config.replace(config.find(key) + std::string(key).size(), 3, "0.3");
    folder_.file("model/config.json", config);
  }

  TextClassificationArguments arguments(const Split& split, const std::string& name) const {
    TextClassificationArguments arguments;
    arguments.model.model_name_or_path = model_;
    arguments.data.train_file = tests::fixture_path("training/train.csv");
    arguments.data.validation_file = tests::fixture_path("training/dev.csv");
    arguments.data.test_file = arguments.data.validation_file;
    arguments.data.max_seq_length = 16;
    arguments.data.max_train_samples =
        55;  // the last update of an epoch is short, and some ranks get nothing
    TrainingArguments& training = arguments.training;
    training.output_dir = folder_.path() / name;
    training.do_train = training.do_eval = training.do_predict = true;
    training.use_cpu = true;
    training.num_threads = 1;
    training.per_device_train_batch_size = split.batch;
    training.gradient_accumulation_steps = split.accumulation;
    training.per_device_eval_batch_size = 4;
    training.learning_rate = 1e-3;
    training.max_steps = 20;
    training.logging_steps = 1;
    training.save_strategy = IntervalStrategy::no;
    return arguments;
  }

  /// Runs the job; every rank returns its evaluation's loss, which all know.
  std::vector<RankResult> run(
      const Split& split, const std::string& name,
      const std::function<void(TrainingArguments&)>& adjust = [](auto&) {}) const {
    return tests::run_ranks(split.ranks,
                            [&](const LaunchEnv& env) {
                              TextClassificationArguments own = arguments(split, name);
                              adjust(own.training);
                              core::NullLogger logger;
                              Observer observer;
                              std::unique_ptr<dist::ProcessGroup> group;
                              if (env.world_size > 1) group = dist::init_process_group(env, {});
                              const JobReport report =
                                  run_text_classification(own, logger, observer, group.get());
                              std::string metrics;
                              for (const auto& [key, value] : report.eval_metrics)
                                if (key == "eval_loss" || key == "eval_accuracy")
                                  metrics += key + "=" + std::to_string(value) + " ";
                              return metrics;
                            },
                            {.seconds = 60});
  }

  nlohmann::json result(const std::string& name, const char* file) const {
    return core::read_json_file(folder_.path() / name / file);
  }

  tests::TemporaryFolder folder_;
  std::filesystem::path model_ = folder_.path() / "model";
};

TEST_F(RanksTest, FollowTheSameLossesHoweverTheBatchIsSplit) {
  const auto alone = run({}, "alone");
  ASSERT_EQ(alone[0].exit_code, 0) << alone[0].text;
  const nlohmann::json expected = result("alone", "trainer_state.json").at("log_history");
  ASSERT_EQ(expected.size(), 21U);
  for (const Split& split : {Split{2, 16, 1}, Split{4, 8, 1}, Split{2, 8, 2}}) {
    const std::string name = std::to_string(split.ranks) + "x" + std::to_string(split.batch);
    for (const RankResult& rank : run(split, name)) {
      EXPECT_EQ(rank.exit_code, 0) << rank.text;
      EXPECT_EQ(rank.text, alone[0].text) << name;
    }
    const nlohmann::json found = result(name, "trainer_state.json").at("log_history");
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (std::size_t i = 0; i + 1 < expected.size(); ++i) {
      const double loss = expected[i].at("loss").get<double>();
      EXPECT_NEAR(found[i].at("loss").get<double>(), loss, 1e-4 * loss) << name << ", update " << i;
      EXPECT_EQ(found[i].at("learning_rate"), expected[i].at("learning_rate"));
    }
    EXPECT_EQ(result(name, "all_results.json").at("eval_accuracy"),
              result("alone", "all_results.json").at("eval_accuracy"));
    EXPECT_EQ(core::read_file(folder_.path() / name / "predict_results.txt"),
              core::read_file(folder_.path() / "alone" / "predict_results.txt"));
    EXPECT_EQ(result(name, "all_results.json").at("total_flos"),
              result("alone", "all_results.json").at("total_flos"));
  }
}

TEST_F(RanksTest, DistributedSamplerRepeatsRowsUntilAllRanksHaveAsMany) {
  const auto rank = run({4, 8, 1}, "sampler", [](TrainingArguments& training) {
    training.sampler = SamplerType::distributed;
    training.max_steps = -1;
    training.num_train_epochs = 1;
  });
  EXPECT_EQ(rank[0].exit_code, 0) << rank[0].text;
  // 55 rows: 14 on each rank, so 8 + 6 and 56 in all.
  const nlohmann::json figures = result("sampler", "all_results.json");
  EXPECT_EQ(result("sampler", "trainer_state.json").at("global_step"), 2);
  EXPECT_NEAR(
      figures.at("train_samples_per_second").get<double>() * figures.at("train_runtime").get<double>(), 56,
      0.5);
}

TEST_F(RanksTest, DataParallelTakesTheRowsOfAllDevicesAndGivesTheSameLosses) {
  run({}, "alone");
  const auto parallel = run({1, 8, 1}, "parallel", [](TrainingArguments& training) {
    training.data_parallel_devices = {"cpu", "cpu", "cpu", "cpu"};  // 4 x 8 rows
  });
  ASSERT_EQ(parallel[0].exit_code, 0) << parallel[0].text;
  const nlohmann::json expected = result("alone", "trainer_state.json").at("log_history");
  const nlohmann::json found = result("parallel", "trainer_state.json").at("log_history");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i + 1 < expected.size(); ++i) {
    const double loss = expected[i].at("loss").get<double>();
    EXPECT_NEAR(found[i].at("loss").get<double>(), loss, 1e-4 * loss) << "update " << i;
  }
  EXPECT_EQ(result("parallel", "all_results.json").at("eval_accuracy"),
            result("alone", "all_results.json").at("eval_accuracy"));
}

TEST_F(RanksTest, AllStopWhenOneCannotReadItsData) {
  const auto results = tests::run_ranks(3, [&](const LaunchEnv& env) {
    core::NullLogger logger;
    Observer observer;
    const auto group = dist::init_process_group(env, {});
    TextClassificationArguments own = arguments({3, 8, 1}, "faulty");
    if (env.rank == 1) own.data.train_file = folder_.path() / "absent.csv";
    run_text_classification(own, logger, observer, group.get());
    return std::string("trained");
  });
  for (const RankResult& rank : results) {
    EXPECT_EQ(rank.exit_code, 1);
    EXPECT_NE(rank.text.find("absent.csv"), std::string::npos) << rank.text;
  }
  EXPECT_NE(results[0].text.find("preparing the job failed after 0 s: rank 1 says: "), std::string::npos)
      << results[0].text;
}

}  // namespace
}  // namespace ranktune::train
