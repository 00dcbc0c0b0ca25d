#include "cli/checks.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::cli {
namespace {

using tests::error_text;
using train::IntervalStrategy;
using train::TextClassificationArguments;

/// A command that can be meant.
TextClassificationArguments good() {
  TextClassificationArguments arguments;
  arguments.model.model_name_or_path = "bert";
  arguments.data.train_file = "train.csv";
  arguments.data.validation_file = "dev.csv";
  arguments.data.test_file = "test.csv";
  arguments.training.output_dir = "out";
  arguments.training.do_train = true;
  return arguments;
}

struct Case {
  std::function<void(TextClassificationArguments&)> change;
  std::string message;
};

std::string complaint(const std::function<void(TextClassificationArguments&)>& change) {
  TextClassificationArguments arguments = good();
  change(arguments);
  return error_text<UsageError>([&] { check(arguments); });
}

TEST(CheckTrain, LetsGoodArgumentsPass) {
  EXPECT_EQ(complaint([](auto&) {}), "<no error>");
  EXPECT_EQ(complaint([](auto& a) { a.training.warmup_steps = 0.1; }), "<no error>");
  EXPECT_EQ(complaint([](auto& a) { a.training.max_grad_norm = 0; }), "<no error>");
  EXPECT_EQ(complaint([](auto& a) { a.training.num_train_epochs = 0.5; }), "<no error>");
  EXPECT_EQ(complaint([](auto& a) { a.training.max_steps = 5, a.training.num_train_epochs = 0; }),
            "<no error>");
  EXPECT_EQ(complaint([](auto& a) {
              a.training.logging_steps = 0, a.training.logging_strategy = IntervalStrategy::no;
            }),
            "<no error>");
}

TEST(CheckTrain, SaysWhatToAddForTheTask) {
  const std::vector<Case> cases = {
      {[](auto& a) { a.model.model_name_or_path.clear(); },
       "no model to start from: add --model_name_or_path DIR (ranktune train --help lists all flags)"},
      {[](auto& a) { a.training.do_train = false; },
       "nothing to do: add --do_train, --do_eval or --do_predict"},
      {[](auto& a) { a.data.train_file.reset(); },
       "--do_train needs rows to learn from: add --train_file FILE"},
      {[](auto& a) { a.training.do_eval = true, a.data.validation_file.reset(); },
       "--do_eval needs rows to measure on: add --validation_file FILE"},
      {[](auto& a) { a.training.eval_strategy = IntervalStrategy::epoch, a.data.validation_file.reset(); },
       "--eval_strategy needs rows to measure on: add --validation_file FILE"},
      {[](auto& a) { a.training.do_predict = true, a.data.test_file.reset(); },
       "--do_predict needs rows to label: add --test_file FILE"},
      {[](auto& a) { a.training.output_dir.clear(); }, "no place for the results: add --output_dir DIR"}};
  for (const Case& c : cases) EXPECT_EQ(complaint(c.change), c.message);
}

TEST(CheckTrain, NamesNumbersOutOfRange) {
  const std::vector<Case> cases = {
      {[](auto& a) { a.training.per_device_train_batch_size = 0; },
       "--per_device_train_batch_size 0: it must be 1 or more"},
      {[](auto& a) { a.training.per_device_eval_batch_size = 0; },
       "--per_device_eval_batch_size 0: it must be 1 or more"},
      {[](auto& a) { a.training.gradient_accumulation_steps = -2; },
       "--gradient_accumulation_steps -2: it must be 1 or more"},
      {[](auto& a) { a.training.num_train_epochs = -1; }, "--num_train_epochs -1.0: it must be above 0"},
      {[](auto& a) { a.training.num_train_epochs = 0; }, "--num_train_epochs 0.0: it must be above 0"},
      {[](auto& a) { a.training.learning_rate = -1e-5; }, "--learning_rate -1e-05: it must be 0 or more"},
      {[](auto& a) { a.training.adam_beta1 = 1; }, "--adam_beta1 1.0: it must be at least 0 and below 1"},
      {[](auto& a) { a.training.warmup_ratio = 1.5; }, "--warmup_ratio 1.5: it must be between 0 and 1"},
      {[](auto& a) { a.training.warmup_steps = -1; },
       "--warmup_steps -1.0: it must be a whole number of updates, or a share below 1 of all of them"},
      {[](auto& a) { a.training.seed = -1; }, "--seed -1: it must be between 0 and 4294967295"},
      {[](auto& a) { a.training.data_seed = 4294967296; },
       "--data_seed 4294967296: it must be between 0 and 4294967295"},
      {[](auto& a) { a.data.max_seq_length = 2; },
       "--max_seq_length 2: it must be 3 or more: two special tokens and one of text"},
      {[](auto& a) { a.data.max_eval_samples = 0; }, "--max_eval_samples 0: it must be 1 or more"}};
  for (const Case& c : cases) EXPECT_EQ(complaint(c.change), c.message);
}

TEST(CheckTrain, WantsAnIntervalForTheStrategySteps) {
  const std::vector<Case> cases = {
      {[](auto& a) { a.training.eval_strategy = IntervalStrategy::steps, a.training.eval_steps = 0; },
       "--eval_strategy steps needs --eval_steps above 0 (or give --eval_strategy no)"},
      {[](auto& a) { a.training.logging_steps = 0; },
       "--logging_strategy steps needs --logging_steps above 0 (or give --logging_strategy no)"},
      {[](auto& a) { a.training.save_steps = 0; },
       "--save_strategy steps needs --save_steps above 0 (or give --save_strategy no)"},
      {[](auto& a) { a.training.save_steps = 2.5; },
       "--save_steps 2.5: it must be a whole number of updates, or a share below 1 of all of them"}};
  for (const Case& c : cases) EXPECT_EQ(complaint(c.change), c.message);
  // Without --eval_steps the interval is that of logging.
  EXPECT_EQ(complaint([](auto& a) {
              a.training.eval_strategy = IntervalStrategy::steps;
              a.training.logging_strategy = IntervalStrategy::epoch;
              a.training.logging_steps = 0;
            }),
            "--eval_strategy steps needs --eval_steps above 0 (or give --eval_strategy no)");
}

TEST(CheckPredict, NamesWhatCannotBeMeant) {
  const auto complain = [](const train::PredictArguments& arguments) {
    return error_text<UsageError>([&] { check(arguments); });
  };
  EXPECT_EQ(complain({.model = "out"}), "<no error>");
  EXPECT_EQ(complain({.model = "out", .file = "a.csv", .text_column_names = {"text"}}), "<no error>");
  EXPECT_EQ(complain({}),
            "no model to label with: add --model DIR (ranktune predict --help lists all flags)");
  EXPECT_EQ(complain({.model = "out", .file = "a.csv", .texts = {"b"}}),
            "both --file and texts are given (\"b\"): leave one of them out");
  EXPECT_EQ(complain({.model = "out", .texts = {"b"}, .text_column_names = {"text"}}),
            "--text_column_names, --text_column_delimiter and --no_header are about the columns of a --file");
  EXPECT_EQ(complain({.model = "out", .top_k = 0}), "--top_k 0: it must be 1 or more");
  EXPECT_EQ(complain({.model = "out", .batch_size = 0}), "--batch_size 0: it must be 1 or more");
}

}  // namespace
}  // namespace ranktune::cli
