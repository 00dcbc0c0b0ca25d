#include "cli/predict_flags.h"

namespace ranktune::cli {

FlagTable predict_flags(train::PredictArguments& arguments, bool& disable_tqdm) {
  FlagGroup model = {
      "Model",
      {option("model", "DIR", arguments.model, "folder that ranktune train or transformers wrote (required)")
           .also("model_name_or_path"),
       option("max_seq_length", "N", arguments.max_seq_length,
              "longest row in tokens, special tokens included; longer ones are cut")}};
  FlagGroup input = {
      "Input",
      {option("file", "FILE", arguments.file, "rows to label: .csv, .tsv, .json or .jsonl").also("test_file"),
       option("text_column_names", "NAMES", arguments.text_column_names,
              "one text column, or two for pairs, with a comma between them")
           .shown_default("sentence, or sentence1,sentence2, or the first that fits"),
       option("text_column_delimiter", "TEXT", arguments.text_column_delimiter,
              "join several text columns with this into one text, instead of making a pair"),
       boolean_flag("no_header", arguments.no_header,
                    "the file has no header row: columns are named 0, 1, 2...")}};
  FlagGroup output = {"Output",
                      {option("output", "FILE", arguments.output, "write here: .csv, .tsv or .jsonl")
                           .shown_default("standard output"),
                       option("top_k", "N", arguments.top_k, "labels for each row, best first"),
                       boolean_flag("scores", arguments.scores, "also the probability of every label")}};
  FlagGroup device = {
      "Device",
      {option("batch_size", "N", arguments.batch_size, "rows at a time").also("per_device_eval_batch_size"),
       boolean_flag("use_cpu", arguments.use_cpu, "stay on the CPU even where there is a GPU")
           .also("no_cuda"),
       option("num_threads", "N", arguments.num_threads, "CPU threads; 0: one per core"),
       boolean_flag("disable_tqdm", disable_tqdm, "no progress line")}};
  return FlagTable({std::move(model), std::move(input), std::move(output), std::move(device)});
}

}  // namespace ranktune::cli
