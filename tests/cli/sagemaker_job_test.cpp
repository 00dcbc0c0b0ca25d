#include "cli/sagemaker_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace ranktune::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::error_text;
using Words = std::vector<std::string>;

/// A folder like /opt/ml with these hyperparameters.
class SageMakerJobTest : public testing::Test {
 protected:
  explicit SageMakerJobTest(const std::string& hyperparameters = "{}") { give(hyperparameters); }

  void give(const std::string& hyperparameters) const {
    folder_.file("input/config/hyperparameters.json", hyperparameters);
  }
  SageMakerJob job() const { return read_sagemaker_job(variables_).value(); }
  std::string base(const std::string& name) const { return (folder_.path() / name).string(); }
  TrainCommand parse(Words words) const {
    words.insert(words.end(), {"--do_train", "--model_name_or_path", "m"});
    return parse_train(words, job());
  }

  tests::TemporaryFolder folder_;
  launch::Variables variables_ = {{"SAGEMAKER_BASE_DIR", folder_.path().string()}};
};

TEST_F(SageMakerJobTest, IsNoneWithoutHyperparameters) {
  EXPECT_FALSE(read_sagemaker_job({{"SAGEMAKER_BASE_DIR", base("elsewhere")}}));
}

TEST_F(SageMakerJobTest, DecodesTextsThatHoldJson) {
  give(R"({"learning_rate": "5e-05", "do_train": "true", "lr_scheduler_type": "\"cosine\"", "seed": "7",
           "text_column_names": "[\"a\", \"b\"]", "warmup_steps": 3, "task_name": "null",
           "sagemaker_program": "\"train.sh\"", "_tuning_objective_metric": "loss", "run_name": "my run"})");
  EXPECT_THAT(job().words,
              ElementsAre("--output_dir=" + base("model"), "--do_train=true", "--learning_rate=5e-05",
                          "--lr_scheduler_type=cosine", "--run_name=my run", "--seed=7",
                          "--text_column_names=a,b", "--warmup_steps=3"));
}

TEST_F(SageMakerJobTest, TakesTheOneFileOfAChannel) {
  folder_.file("input/data/training/rows.csv", "");
  folder_.file("input/data/training/rows.csv-manifest", "");
  folder_.file("input/data/validation/a.jsonl", "");
  folder_.file("input/data/test/a.tsv", "");
  folder_.file("input/data/model/config.json", "{}");
  EXPECT_THAT(job().words,
              ElementsAre("--output_dir=" + base("model"), "--model_name_or_path=" + base("input/data/model"),
                          "--train_file=" + base("input/data/training/rows.csv"),
                          "--validation_file=" + base("input/data/validation/a.jsonl"),
                          "--test_file=" + base("input/data/test/a.tsv")));
}

TEST_F(SageMakerJobTest, AsksWhichOfSeveralFilesIsMeant) {
  folder_.file("input/data/train/a.csv", "");
  folder_.file("input/data/train/b.csv", "");
  EXPECT_THAT(job().words, ElementsAre("--output_dir=" + base("model")));
  EXPECT_THAT(job().notes,
              Contains(HasSubstr("channel train: 2 files of rows in " + base("input/data/train") +
                                 ", so --train_file has to name one")));
}

TEST_F(SageMakerJobTest, GivesWayToTheCommandLineAndToAFileOfArguments) {
  give(R"({"seed": "7", "learning_rate": "1e-3", "num_train_epochs": "2"})");
  folder_.file("input/data/train/a.csv", "");
  const std::string file = folder_.file("args.json", R"({"learning_rate": 0.25})").string();
  const TrainCommand command = parse({file, "--seed", "9"});
  EXPECT_EQ(command.arguments.training.seed, 9);
  EXPECT_EQ(command.arguments.training.learning_rate, 0.25);
  EXPECT_EQ(command.arguments.training.num_train_epochs, 2);
  EXPECT_EQ(command.arguments.training.output_dir, base("model"));
  EXPECT_EQ(command.arguments.data.train_file, base("input/data/train/a.csv"));
  EXPECT_THAT(command.notes, Contains(HasSubstr("--seed=7")));
}

TEST_F(SageMakerJobTest, NamesTheFileOfAMistakenHyperparameter) {
  folder_.file("input/data/train/a.csv", "");
  give(R"({"learning_rte": "1"})");
  EXPECT_EQ(error_text<UsageError>([&] { parse({}); }),
            "hyperparameters.json of the SageMaker job: unknown flag --learning_rte; did you mean "
            "--learning_rate?");
  give(R"({"seed": "x"})");
  EXPECT_THAT(error_text<UsageError>([&] { parse({}); }),
              HasSubstr("hyperparameters.json of the SageMaker job: --seed"));
  give("{");
  EXPECT_THAT(error_text<DataError>([&] { job(); }), HasSubstr("hyperparameters.json:1:"));
}

TEST_F(SageMakerJobTest, KeepsTheFirstReasonForAFailureAndOfItWhatIsShown) {
  folder_.file("output/data/x", "");
  const std::string message = std::string(1023, 'a') + "\xC3\xA9 and more";  // the limit cuts a letter
  write_failure_reason(variables_, message);
  write_failure_reason(variables_, "the other rank was lost");
  EXPECT_EQ(core::read_file(base("output/failure")), std::string(1023, 'a'));
}

TEST_F(SageMakerJobTest, WritesNoReasonOutsideAJob) {
  const tests::TemporaryFolder other;
  other.file("output/data/x", "");
  write_failure_reason({{"SAGEMAKER_BASE_DIR", other.path().string()}}, "m");
  EXPECT_FALSE(std::filesystem::exists(other.path() / "output/failure"));
}

}  // namespace
}  // namespace ranktune::cli
