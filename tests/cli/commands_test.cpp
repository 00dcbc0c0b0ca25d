#include "cli/commands.h"

#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace ranktune::cli {
namespace {

using tests::error_text;
using Words = std::vector<std::string>;

TrainCommand train(const Words& words) {
  return parse_train(words);
}

const Words kGood = {"--model_name_or_path", "bert", "--train_file", "t.csv",
                     "--output_dir",         "out",  "--do_train"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(ParseTrain, HasTheDefaultsOfTheTrainer) {
  const train::TrainingArguments training = train(kGood).arguments.training;
  EXPECT_EQ(training.learning_rate, 5e-5);
  EXPECT_EQ(training.per_device_train_batch_size, 8);
  EXPECT_EQ(training.save_strategy, train::IntervalStrategy::steps);
  EXPECT_EQ(training.save_steps, 500);
  EXPECT_EQ(training.eval_strategy, train::IntervalStrategy::no);
  EXPECT_EQ(training.eval_steps, std::nullopt);
  EXPECT_FALSE(training.do_eval);
}

TEST(ParseTrain, EvaluatesAtTheEndWhenItDoesSoDuringTraining) {
  EXPECT_TRUE(train(with(kGood, {"--eval_strategy", "epoch", "--validation_file", "d.csv"}))
                  .arguments.training.do_eval);
}

TEST(ParseTrain, ReadsOneFileOfArgumentsOverWhichFlagsWin) {
  const tests::TemporaryFolder folder;
  const std::string file = folder
                               .file("args.json", R"({"model_name_or_path": "bert", "train_file": "t.csv",
                                     "output_dir": "out", "do_train": true, "seed": 1, "max_steps": 9})")
                               .string();
  EXPECT_EQ(train({file}).arguments.training.seed, 1);
  EXPECT_EQ(train({"--seed", "2", file}).arguments.training.seed, 2);
  EXPECT_EQ(train({"--seed", "2", file}).arguments.training.max_steps, 9);
  EXPECT_EQ(error_text<UsageError>([&] {
              train({file, "b.json"});
            }),
            "two files of arguments, " + file + " and b.json: give one");
}

TEST(ParseTrain, NamesWordsThatBelongToNothing) {
  EXPECT_EQ(error_text<UsageError>([] { train(with(kGood, {"maybe"})); }),
            "unexpected word \"maybe\" after --do_train, which takes only true or false");
  EXPECT_EQ(error_text<UsageError>([] { train(with({"t.csv"}, kGood)); }),
            "unexpected word \"t.csv\": flags begin with --, and one file args.json may hold them all");
}

TEST(ParseTrain, ChecksCombinations) {
  EXPECT_EQ(error_text<UsageError>([] {
              train(with(kGood, {"--per_device_train_batch_size", "0"}));
            }),
            "--per_device_train_batch_size 0: it must be 1 or more");
}

TEST(ParseTrain, AsksForNothingElseWhenHelpIsWanted) {
  EXPECT_TRUE(train({"--help"}).help);
  EXPECT_TRUE(train({"--seed", "x", "-h", "stray"}).help);
}

TEST(ParsePredict, TakesTextsFilesAndStandardInput) {
  const train::PredictArguments texts =
      parse_predict(Words{"--model", "out", "good one", "bad one", "--top-k=2"}).arguments;
  EXPECT_EQ(texts.texts, (Words{"good one", "bad one"}));
  EXPECT_EQ(texts.top_k, 2);
  EXPECT_FALSE(texts.scores);
  const train::PredictArguments file =
      parse_predict(Words{"--model=out", "--file", "a.csv", "--output", "b.jsonl", "--scores"}).arguments;
  EXPECT_EQ(file.file, "a.csv");
  EXPECT_EQ(file.output, "b.jsonl");
  EXPECT_TRUE(file.scores);
  const train::PredictArguments input =
      parse_predict(Words{"--model", "out", "-", "--output", "-"}).arguments;
  EXPECT_EQ(input.file, std::nullopt);
  EXPECT_EQ(input.texts, Words{});
  EXPECT_EQ(input.output, std::nullopt);
}

TEST(ParsePredict, TakesTextsThatLookLikeFlagsAfterTwoDashes) {
  EXPECT_EQ(parse_predict(Words{"--model", "out", "--", "--scores", "-"}).arguments.texts,
            (Words{"--scores", "-"}));
}

TEST(ParsePredict, KnowsTheNamesThatTrainUses) {
  const train::PredictArguments arguments =
      parse_predict(Words{"--model_name_or_path", "out", "--no_cuda", "--per_device_eval_batch_size", "4",
                          "--test_file", "a.csv"})
          .arguments;
  EXPECT_EQ(arguments.model, "out");
  EXPECT_TRUE(arguments.use_cpu);
  EXPECT_EQ(arguments.batch_size, 4);
  EXPECT_EQ(arguments.file, "a.csv");
}

TEST(ParsePredict, NamesTheNearestFlag) {
  EXPECT_EQ(error_text<UsageError>([] {
              parse_predict(Words{"--modle", "out"});
            }),
            "unknown flag --modle; did you mean --model?");
}

}  // namespace
}  // namespace ranktune::cli
