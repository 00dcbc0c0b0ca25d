#include "cli/commands.h"

#include <algorithm>
#include <filesystem>

#include "cli/help.h"
#include "cli/json_arguments.h"
#include "cli/parser.h"
#include "cli/predict_flags.h"
#include "cli/train_flags.h"
#include "cli/values.h"
#include "ranktune/core/error.h"

namespace ranktune::cli {
namespace {

void apply_all(const std::vector<Assignment>& assignments, std::vector<std::string>& notes) {
  for (const Assignment& assignment : assignments) apply(assignment, notes);
}

[[noreturn]] void refuse_positional(const Positional& positional) {
  const std::string word = "unexpected word " + in_quotes(positional.word);
  if (positional.after != nullptr)
    throw UsageError(word + " after --" + positional.after->name + ", which takes only true or false");
  throw UsageError(word + ": flags begin with --, and one file args.json may hold them all");
}

/// A mistake in a hyperparameter is looked for where it was given.
void apply_job(const SageMakerJob& job, const FlagTable& table, std::vector<std::string>& notes) {
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
  try {
    apply_all(parse_words(job.words, table).assignments, notes);
  } catch (const UsageError& error) {
    throw UsageError("hyperparameters.json of the SageMaker job: " + std::string(error.what()));
  }
}

/// The one positional that `train` takes.
const std::string* json_file(const ParsedWords& parsed) {
  const std::string* file = nullptr;
  for (const Positional& positional : parsed.positionals) {
    if (!positional.word.ends_with(".json")) refuse_positional(positional);
    if (file != nullptr)
      throw UsageError("two files of arguments, " + *file + " and " + positional.word + ": give one");
    file = &positional.word;
  }
  return file;
}

constexpr const char* kSpellings =
    "A flag may be written with - for _, as --flag value or --flag=value, and shortened while it stays "
    "unambiguous; "
    "the last one wins. Flags without a value are off unless given: --flag, --flag true, --no_flag, --flag "
    "false.";

}  // namespace

TrainCommand parse_train(std::span<const std::string> words, const std::optional<SageMakerJob>& job) {
  TrainCommand command;
  const FlagTable table = train_flags(command.arguments, command.place);
  const ParsedWords parsed = parse_words(words, table);
  command.help = parsed.help;
  if (command.help) return command;
  if (job) apply_job(*job, table, command.notes);
  if (const std::string* file = json_file(parsed))
    apply_all(read_json_arguments(*file, table), command.notes);
  apply_all(parsed.assignments, command.notes);
  check(command.arguments);
  train::TrainingArguments& training = command.arguments.training;
  // As the Trainer does: whoever asks for evaluation during training wants it at the end, too.
  training.do_eval = training.do_eval || training.eval_strategy != train::IntervalStrategy::no;
  return command;
}

PredictCommand parse_predict(std::span<const std::string> words) {
  PredictCommand command;
  const FlagTable table = predict_flags(command.arguments, command.disable_tqdm);
  const ParsedWords parsed = parse_words(words, table);
  command.help = parsed.help;
  if (command.help) return command;
  std::vector<std::string> no_notes;
  apply_all(parsed.assignments, no_notes);
  train::PredictArguments& arguments = command.arguments;
  for (const Positional& positional : parsed.positionals) arguments.texts.push_back(positional.word);
  // "-" stands for the standard streams; the library has them when nothing is named.
  if (arguments.texts.size() == 1 && arguments.texts.front() == "-") arguments.texts.clear();
  if (arguments.file == std::filesystem::path("-")) arguments.file.reset();
  if (arguments.output == std::filesystem::path("-")) arguments.output.reset();
  check(arguments);
  return command;
}

std::string train_help() {
  train::TextClassificationArguments arguments;
  PlaceArguments place;
  return "usage: ranktune train --model_name_or_path DIR --output_dir DIR --do_train --train_file FILE "
         "[flags]\n"
         "       ranktune train args.json [flags]\n\n" +
         wrapped(
             "Fine-tunes a text classifier, measures it and labels rows with it. Flags, defaults and files "
             "are "
             "those of Hugging Face's run_glue and Trainer.",
             0, 0) +
         wrapped(kSpellings, 0, 0) + flags_help(train_flags(arguments, place));
}

std::string predict_help() {
  train::PredictArguments arguments;
  bool disable_tqdm = false;
  return "usage: ranktune predict --model DIR TEXT... [flags]\n"
         "       ranktune predict --model DIR --file FILE [--output FILE] [flags]\n"
         "       ranktune predict --model DIR [flags] < texts\n\n" +
         wrapped(
             "Labels texts: those on the command line, the rows of a file, or the lines of standard input. "
             "Rows keep "
             "their order, and files their columns. A text that begins with -- comes after a lone --.",
             0, 0) +
         wrapped(kSpellings, 0, 0) + flags_help(predict_flags(arguments, disable_tqdm));
}

std::string general_help() {
  return "ranktune fine-tunes transformer text classifiers.\n\n"
         "usage: ranktune VERB [flags]\n\n"
         "  train      fine-tune a model on labelled rows, measure it, label a test file\n"
         "  predict    label texts with a fine-tuned model\n"
         "  launch     start a program on several ranks, watch over them, end them together\n"
         "  doctor     say what rank, local rank and device this process has, why, and what is odd\n\n"
         "  --help     this text; ranktune VERB --help lists the verb's flags\n"
         "  --version  the version\n\n"
         "examples:\n"
         "  ranktune train --model_name_or_path bert --train_file train.csv --validation_file dev.csv \\\n"
         "                 --do_train --do_eval --output_dir out\n"
         "  ranktune predict --model out \"What a pleasant surprise.\"\n"
         "  ranktune predict --model out --file rows.csv --output labelled.csv --scores\n"
         "  ranktune launch --nproc_per_node 2 my_program its arguments\n";
}

std::vector<std::string> verbs() {
  return {"train", "predict", "launch", "doctor"};
}

}  // namespace ranktune::cli
