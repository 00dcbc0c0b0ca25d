#include "cli/json_arguments.h"

#include <gtest/gtest.h>

#include "cli/train_flags.h"
#include "ranktune/core/error.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace ranktune::cli {
namespace {

using tests::error_text;
using Words = std::vector<std::string>;

class JsonArguments : public ::testing::Test {
 protected:
  Words apply_file(const std::string& content) {
    const auto path = folder_.file("args.json", content);
    Words notes;
    for (const Assignment& assignment : read_json_arguments(path, table_)) apply(assignment, notes);
    return notes;
  }

  /// The message, with the folder's name taken out.
  template <typename Expected>
  std::string complaint(const std::string& content) {
    std::string text = error_text<Expected>([&] { apply_file(content); });
    const std::string prefix = folder_.path().string() + "/";
    if (const std::size_t at = text.find(prefix); at != std::string::npos) text.erase(at, prefix.size());
    return text;
  }

  tests::TemporaryFolder folder_;
  train::TextClassificationArguments arguments_;
  PlaceArguments place_;
  FlagTable table_ = train_flags(arguments_, place_);
};

TEST_F(JsonArguments, SetEveryKindOfFlag) {
  const Words notes = apply_file(R"({
    "model_name_or_path": "bert", "output_dir": "out", "do_train": true, "no_cuda": false, "seed": 7,
    "learning_rate": 2e-5, "num_train_epochs": 3, "eval_strategy": "steps", "eval_steps": 0.25,
    "text_column_names": ["first, text", "second"], "text-column-delimiter": " \"|\" "
  })");
  EXPECT_EQ(notes, Words{});
  EXPECT_EQ(arguments_.model.model_name_or_path, "bert");
  EXPECT_TRUE(arguments_.training.do_train);
  EXPECT_FALSE(arguments_.training.use_cpu);
  EXPECT_EQ(arguments_.training.seed, 7);
  EXPECT_EQ(arguments_.training.learning_rate, 2e-5);
  EXPECT_EQ(arguments_.training.num_train_epochs, 3.0);
  EXPECT_EQ(arguments_.training.eval_strategy, train::IntervalStrategy::steps);
  EXPECT_EQ(arguments_.training.eval_steps, 0.25);
  EXPECT_EQ(arguments_.data.text_column_delimiter, " \"|\" ");
  EXPECT_EQ(arguments_.data.text_column_names, (Words{"first, text", "second"}));
}

TEST_F(JsonArguments, SplitListsGivenAsOneText) {
  apply_file(R"({"text_column_names": "premise,hypothesis"})");
  EXPECT_EQ(arguments_.data.text_column_names, (Words{"premise", "hypothesis"}));
}

TEST_F(JsonArguments, LeaveAloneWhatIsNull) {
  arguments_.training.seed = 5;
  apply_file(R"({"seed": null, "deepspeed": null, "eval_steps": null, "report_to": null})");
  EXPECT_EQ(arguments_.training.seed, 5);
}

TEST_F(JsonArguments, NameUnknownKeysWithTheirPlace) {
  EXPECT_EQ(complaint<DataError>("{\n  \"seed\": 1,\n  \"learning_rte\": 1\n}"),
            "args.json:3:3: unknown argument \"learning_rte\"; did you mean learning_rate?");
  EXPECT_EQ(complaint<DataError>(R"({"tags": {"learning_rte": [1, "x"]}, "seeds": 3})").substr(0, 17),
            "args.json:1:38: u");
}

TEST_F(JsonArguments, FindKeysBehindQuotesAndBraces) {
  EXPECT_EQ(complaint<DataError>("{\"run_name\": \"a \\\"{,}\\\" b\",\n\n \"sede\": [1]}"),
            "args.json:3:2: unknown argument \"sede\"; did you mean seed?");
}

TEST_F(JsonArguments, CheckTypes) {
  EXPECT_EQ(complaint<DataError>(R"({"learning_rate": "5e-5"})"),
            "args.json:1:2: learning_rate must be a number, not \"5e-5\"");
  EXPECT_EQ(complaint<DataError>(R"({"seed": 1.5})"), "args.json:1:2: seed must be a whole number, not 1.5");
  EXPECT_EQ(complaint<DataError>(R"({"do_train": "true"})"),
            "args.json:1:2: do_train must be true or false, not \"true\"");
  EXPECT_EQ(complaint<DataError>(R"({"output_dir": 3})"),
            "args.json:1:2: output_dir must be a text in quotes, not 3");
  EXPECT_EQ(complaint<DataError>(R"({"text_column_names": [1]})"),
            "args.json:1:2: text_column_names must be a list of texts, or one text with commas, not [1]");
}

TEST_F(JsonArguments, CheckValuesWithTheirPlace) {
  EXPECT_EQ(complaint<UsageError>("{\n\"save_strategy\": \"best\"}"),
            "args.json:2:1: save_strategy \"best\" is not one of no, steps, epoch");
  EXPECT_EQ(complaint<UsageError>("{\n\"fp16\": true}"),
            "args.json:2:1: fp16 is not available in this version: it computes in 32-bit floats");
}

TEST_F(JsonArguments, PassWhatIsOffWhateverItsType) {
  EXPECT_EQ(
      apply_file(R"({"fsdp": [], "fsdp_config": {}, "fp16": false, "debug": "", "lr_scheduler_kwargs": {},
                           "label_smoothing_factor": 0.0, "report_to": ["none"], "dataloader_pin_memory": true,
                           "optim": "adamw_torch_fused", "gradient_checkpointing": false})"),
      Words{});
}

TEST_F(JsonArguments, RefuseWhatIsNoObject) {
  EXPECT_EQ(complaint<DataError>("[1]"),
            "args.json:1: must hold one JSON object with the arguments: {\"learning_rate\": 5e-5, ...}");
  EXPECT_EQ(complaint<DataError>("{\n\"seed\": }").substr(0, 36), "args.json:2:9: is not valid JSON: sy");
  EXPECT_EQ(complaint<DataError>("").substr(0, 13), "args.json:1:1");
}

TEST_F(JsonArguments, SayWhenThereIsNoFile) {
  const std::string text =
      error_text<DataError>([&] { read_json_arguments(folder_.path() / "none.json", table_); });
  EXPECT_NE(text.find("none.json: "), std::string::npos) << text;
}

}  // namespace
}  // namespace ranktune::cli
