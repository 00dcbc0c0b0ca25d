#include "cli/parser.h"

#include <gtest/gtest.h>

#include "cli/train_flags.h"
#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::cli {
namespace {

using tests::error_text;
using Words = std::vector<std::string>;

/// The arguments that `words` lead to.
struct Parsed {
  train::TextClassificationArguments arguments = {};
  PlaceArguments place = {};
  Words positionals = {};
  Words notes = {};
};

Parsed parse(const Words& words) {
  Parsed result;
  const FlagTable table = train_flags(result.arguments, result.place);
  const ParsedWords parsed = parse_words(words, table);
  for (const Positional& positional : parsed.positionals) result.positionals.push_back(positional.word);
  for (const Assignment& assignment : parsed.assignments) apply(assignment, result.notes);
  return result;
}

std::string complaint(const Words& words) {
  return error_text<UsageError>([&] { parse(words); });
}

TEST(ParseWords, TakesValuesAsTheNextWordOrAfterAnEqualsSign) {
  const auto training =
      parse({"--learning_rate", "3e-4", "--max-steps=20", "--output_dir=a=b"}).arguments.training;
  EXPECT_EQ(training.learning_rate, 3e-4);
  EXPECT_EQ(training.max_steps, 20);
  EXPECT_EQ(training.output_dir, "a=b");
}

TEST(ParseWords, TakesNegativeNumbersAndOddTextsAsValues) {
  const Parsed parsed = parse({"--max_steps", "-1", "--text_column_delimiter", "-", "--local_rank=-1"});
  EXPECT_EQ(parsed.arguments.training.max_steps, -1);
  EXPECT_EQ(parsed.arguments.data.text_column_delimiter, "-");
  EXPECT_EQ(parse({"--text_column_delimiter="}).arguments.data.text_column_delimiter, "");
  EXPECT_EQ(parse({"--text_column_delimiter=--"}).arguments.data.text_column_delimiter, "--");
}

TEST(ParseWords, LetsTheLastOneWin) {
  EXPECT_EQ(parse({"--seed", "1", "--seed", "2", "--seed=3"}).arguments.training.seed, 3);
  EXPECT_FALSE(parse({"--do_train", "--no_do_train"}).arguments.training.do_train);
  EXPECT_EQ(
      parse({"--text_column_names", "a", "b", "--text_column_names", "c"}).arguments.data.text_column_names,
      (Words{"c"}));
}

struct BooleanCase {
  Words words;
  bool value;
};

TEST(ParseWords, ReadsBooleansInAllTheirForms) {
  const std::vector<BooleanCase> cases = {
      {{"--do_train"}, true},      {{"--do_train", "true"}, true},     {{"--do_train", "Yes"}, true},
      {{"--do_train", "1"}, true}, {{"--do-train=T"}, true},           {{"--do_train", "false"}, false},
      {{"--do_train=No"}, false},  {{"--do_train", "0"}, false},       {{"--no_do_train"}, false},
      {{"--no-do-train"}, false},  {{"--do_train", "--do_eval"}, true}};
  for (const BooleanCase& c : cases)
    EXPECT_EQ(parse(c.words).arguments.training.do_train, c.value) << c.words.back();
  EXPECT_TRUE(parse({"--no_cuda"}).arguments.training.use_cpu);
  EXPECT_FALSE(parse({"--no_cuda", "false"}).arguments.training.use_cpu);
  EXPECT_EQ(complaint({"--do_train=maybe"}), "--do_train \"maybe\" is neither true nor false");
  EXPECT_EQ(complaint({"--no_do_train=true"}), "--no_do_train takes no value, but got \"true\"");
}

TEST(ParseWords, LeavesOtherWordsAfterABooleanAlone) {
  const Parsed parsed = parse({"--do_train", "args.json"});
  EXPECT_TRUE(parsed.arguments.training.do_train);
  EXPECT_EQ(parsed.positionals, (Words{"args.json"}));
}

TEST(ParseWords, ReadsListsAsWordsOrWithCommas) {
  const Words expected = {"premise", "hypothesis"};
  EXPECT_EQ(parse({"--text_column_names", "premise,hypothesis"}).arguments.data.text_column_names, expected);
  EXPECT_EQ(
      parse({"--text_column_name", "premise", "hypothesis", "--do_train"}).arguments.data.text_column_names,
      expected);
  EXPECT_EQ(parse({"--text_column_names=premise, hypothesis"}).arguments.data.text_column_names, expected);
  EXPECT_EQ(complaint({"--text_column_names", "a,,b"}), "--text_column_names \"a,,b\" holds an empty name");
}

TEST(ParseWords, ReadsChoices) {
  const auto training =
      parse({"--evaluation_strategy", "epoch", "--save_strategy=no", "--lr_scheduler_type", "constant",
             "--on_nonfinite", "report", "--train_sampling_strategy", "group_by_length"})
          .arguments.training;
  EXPECT_EQ(training.eval_strategy, train::IntervalStrategy::epoch);
  EXPECT_EQ(training.save_strategy, train::IntervalStrategy::no);
  EXPECT_EQ(training.lr_scheduler_type, train::SchedulerType::constant);
  EXPECT_EQ(training.on_nonfinite, train::OnNonfinite::report);
  EXPECT_TRUE(training.group_by_length);
  EXPECT_EQ(complaint({"--save_strategy", "best"}),
            "--save_strategy \"best\" is not one of no, steps, epoch");
}

TEST(ParseWords, NamesFlagAndValueOfWhatDoesNotFit) {
  EXPECT_EQ(complaint({"--learning_rate", "5e-5x"}), "--learning_rate \"5e-5x\" is not a number");
  EXPECT_EQ(complaint({"--max_steps", "2.5"}), "--max_steps \"2.5\" is not a whole number");
  EXPECT_EQ(complaint({"--output_dir", ""}), "--output_dir \"\" is empty: it must name a file or folder");
  EXPECT_EQ(complaint({"--output_dir=~/out"}),
            "--output_dir \"~/out\" begins with ~, which only a shell expands: write the whole path");
}

TEST(ParseWords, SaysWhatIsMissing) {
  EXPECT_EQ(complaint({"--learning_rate"}), "--learning_rate needs a value: --learning_rate X");
  EXPECT_EQ(complaint({"--train_file", "--do_train"}), "--train_file needs a value: --train_file FILE");
  EXPECT_EQ(complaint({"--text_column_delimiter", "--x"}),
            "--text_column_delimiter needs a value: --text_column_delimiter TEXT (one that begins with -- is "
            "written "
            "--text_column_delimiter=--x)");
  EXPECT_EQ(complaint({"--text_column_names"}),
            "--text_column_names needs a value: --text_column_names NAMES");
}

TEST(ParseWords, KnowsNoShortFlags) {
  EXPECT_EQ(complaint({"-lr", "3"}), "unknown flag -lr: flags begin with --");
  EXPECT_EQ(complaint({"-seed", "3"}), "unknown flag -seed: flags begin with --; did you mean --seed?");
}

TEST(ParseWords, TakesEverythingAfterTwoDashesAsItIs) {
  EXPECT_EQ(parse({"--do_train", "--", "--do_eval", "-x"}).positionals, (Words{"--do_eval", "-x"}));
  EXPECT_EQ(parse({"-", "-3", "- a list item"}).positionals, (Words{"-", "-3", "- a list item"}));
}

TEST(ParseWords, StopsAtHelp) {
  train::TextClassificationArguments arguments;
  PlaceArguments place;
  const FlagTable table = train_flags(arguments, place);
  EXPECT_TRUE(parse_words(Words{"--do_train", "--help", "--no-such-flag"}, table).help);
  EXPECT_TRUE(parse_words(Words{"-h"}, table).help);
  EXPECT_FALSE(parse_words(Words{"--do_train"}, table).help);
}

TEST(Apply, RefusesWhatThisVersionDoesNotHaveAndSaysWhy) {
  EXPECT_EQ(complaint({"--bf16"}), "--bf16 is not available in this version: it computes in 32-bit floats");
  EXPECT_EQ(complaint({"--optim", "adafactor"}).substr(0, 43), "--optim is not available in this version: A");
  EXPECT_EQ(complaint({"--deepspeed"}),
            "--deepspeed is not available in this version: its ranks each hold a whole model");
  EXPECT_EQ(complaint({"--task_name", "sst2"}),
            "--task_name is not available in this version: give --train_file and --validation_file");
  EXPECT_NE(complaint({"--report_to", "wandb", "tensorboard"}).find("--report_to is not available"),
            std::string::npos);
}

TEST(Apply, NeverRepeatsASecret) {
  EXPECT_EQ(complaint({"--hub_token", "hf_secret"}).find("hf_secret"), std::string::npos);
}

TEST(Apply, AcceptsRefusedFlagsThatAreOff) {
  const Parsed parsed =
      parse({"--fp16", "false", "--no_bf16", "--optim=adamw_torch", "--label_smoothing_factor", "0.0",
             "--report_to", "none", "--local_rank", "-1", "--push_to_hub", "False",
             "--resume_from_checkpoint", "false", "--eval_delay", "0"});
  EXPECT_EQ(parsed.notes, Words{});
}

TEST(Apply, NotesFlagsThatChangeNothing) {
  const Words expected = {"--pad_to_max_length changes nothing: accepted, but nothing is ever padded",
                          "--dataloader_num_workers changes nothing: no worker processes are needed"};
  EXPECT_EQ(
      parse({"--pad_to_max_length", "--dataloader_num_workers", "4", "--pad_to_max_length", "true"}).notes,
      expected);
  EXPECT_EQ(parse({"--no_pad_to_max_length", "--dataloader_num_workers", "0", "--use_fast_tokenizer", "true"})
                .notes,
            Words{});
}

}  // namespace
}  // namespace ranktune::cli
