#include "cli/train_flags.h"

#include "cli/scheduler_flags.h"

namespace ranktune::cli {
namespace {

using train::IntervalStrategy;

FlagGroup model_flags(train::ModelArguments& model) {
  return {"Model",
          {option("model_name_or_path", "DIR", model.model_name_or_path,
                  "folder with config.json, model.safetensors and the tokenizer's files (required)"),
           boolean_flag("ignore_mismatched_sizes", model.ignore_mismatched_sizes,
                        "give tensors of another shape, such as a head for other labels, fresh values")}};
}

FlagGroup data_flags(train::DataArguments& data) {
  return {
      "Data",
      {option("train_file", "FILE", data.train_file, "rows to learn from: .csv, .tsv, .json or .jsonl"),
       option("validation_file", "FILE", data.validation_file, "rows to measure on"),
       option("test_file", "FILE", data.test_file, "rows to predict"),
       option("text_column_names", "NAMES", data.text_column_names,
              "one text column, or two for pairs, with a comma between them")
           .shown_default("sentence, or sentence1,sentence2, or the first that fits"),
       option("text_column_delimiter", "TEXT", data.text_column_delimiter,
              "join several text columns with this into one text, instead of making a pair"),
       option("label_column_name", "NAME", data.label_column_name,
              "integers or texts are classes, numbers with a point mean regression")
           .shown_default("label"),
       boolean_flag("no_header", data.no_header,
                    "the files have no header row: columns are named 0, 1, 2..."),
       option("max_seq_length", "N", data.max_seq_length,
              "longest row in tokens, special tokens included; longer ones are cut"),
       ignored_flag("pad_to_max_length", FlagKind::boolean, "accepted, but nothing is ever padded"),
       option("max_train_samples", "N", data.max_train_samples, "use only the first N rows to learn from"),
       option("max_eval_samples", "N", data.max_eval_samples, "use only the first N rows to measure on"),
       option("max_predict_samples", "N", data.max_predict_samples, "label only the first N rows")}};
}

FlagGroup task_flags(train::TrainingArguments& training) {
  return {"What to do",
          {boolean_flag("do_train", training.do_train, "fine-tune on --train_file"),
           boolean_flag("do_eval", training.do_eval, "measure on --validation_file at the end"),
           boolean_flag("do_predict", training.do_predict, "label --test_file: predict_results.txt"),
           option("output_dir", "DIR", training.output_dir, "where the model and all results go (required)"),
           boolean_flag("overwrite_output_dir", training.overwrite_output_dir,
                        "train into a folder that is not empty")}};
}

FlagGroup training_flags(train::TrainingArguments& training) {
  return {
      "Training",
      {option("num_train_epochs", "X", training.num_train_epochs, "passes over the rows; fractions too"),
       option("max_steps", "N", training.max_steps,
              "updates in all; above 0 it wins over --num_train_epochs"),
       option("per_device_train_batch_size", "N", training.per_device_train_batch_size, "rows per batch")
           .also("per_gpu_train_batch_size"),
       option("per_device_eval_batch_size", "N", training.per_device_eval_batch_size,
              "rows per batch when nothing is learnt")
           .also("per_gpu_eval_batch_size"),
       option("gradient_accumulation_steps", "N", training.gradient_accumulation_steps,
              "batches per update; the gradient is the mean over all their rows"),
       boolean_flag("group_by_length", training.group_by_length, "put rows of like length into one batch"),
       choice<bool>("train_sampling_strategy", {{"random", false}, {"group_by_length", true}},
                    training.group_by_length, "the newer way to say --group_by_length"),
       boolean_flag("dataloader_drop_last", training.dataloader_drop_last,
                    "leave out a last batch that is short"),
       option("seed", "N", training.seed, "decides the order of rows, the new head and dropout"),
       option("data_seed", "N", training.data_seed, "another seed for the order of rows")
           .shown_default("--seed"),
       choice<train::OnNonfinite>(
           "on_nonfinite", {{"stop", train::OnNonfinite::stop}, {"report", train::OnNonfinite::report}},
           training.on_nonfinite, "when a loss is not finite: end with exit code 1, or say so and go on")}};
}

FlagGroup optimizer_flags(train::TrainingArguments& training) {
  return {
      "Optimizer and schedule",
      {option("learning_rate", "X", training.learning_rate, "peak learning rate of AdamW"),
       option("weight_decay", "X", training.weight_decay, "not applied to biases and layer norms"),
       option("adam_beta1", "X", training.adam_beta1, "decay of the mean of gradients"),
       option("adam_beta2", "X", training.adam_beta2, "decay of the mean of their squares"),
       option("adam_epsilon", "X", training.adam_epsilon, "added to the root in the denominator"),
       option("max_grad_norm", "X", training.max_grad_norm, "clip gradients to this norm; 0: do not clip"),
       option("label_smoothing_factor", "X", training.label_smoothing_factor,
              "share of a label that is spread over all classes"),
       choice("lr_scheduler_type", scheduler_names(), training.lr_scheduler_type,
              "linear falls to 0 at the last update"),
       scheduler_kwargs_flag(training.lr_scheduler_kwargs),
       option("warmup_steps", "X", training.warmup_steps,
              "updates of warm-up; below 1: their share of all updates"),
       option("warmup_ratio", "X", training.warmup_ratio, "the same share, used when --warmup_steps is 0")}};
}

FlagGroup interval_flags(train::TrainingArguments& training) {
  const std::vector<std::pair<std::string, IntervalStrategy>> intervals = {
      {"no", IntervalStrategy::no}, {"steps", IntervalStrategy::steps}, {"epoch", IntervalStrategy::epoch}};
  return {"Logging, evaluation and saving (intervals in updates; below 1: shares of all updates)",
          {choice("logging_strategy", intervals, training.logging_strategy,
                  "when to note loss and learning rate"),
           option("logging_steps", "X", training.logging_steps, "interval of logging"),
           boolean_flag("logging_first_step", training.logging_first_step, "log the first update too"),
           choice("eval_strategy", intervals, training.eval_strategy,
                  "when to measure during training; other than no switches --do_eval on")
               .also("evaluation_strategy"),
           option("eval_steps", "X", training.eval_steps, "interval of measuring")
               .shown_default("--logging_steps"),
           choice("save_strategy", intervals, training.save_strategy, "when to save during training"),
           option("save_steps", "X", training.save_steps, "interval of saving")}};
}

FlagGroup device_flags(train::TrainingArguments& training, PlaceArguments& place) {
  return {
      "Device",
      {boolean_flag("use_cpu", training.use_cpu, "stay on the CPU even where there is a GPU").also("no_cuda"),
       device_flag(place), option("num_threads", "N", training.num_threads, "CPU threads; 0: one per core"),
       choice("parallel",
              {{"auto", launch::Parallel::automatic},
               {"data_parallel", launch::Parallel::data_parallel},
               {"none", launch::Parallel::none}},
              place.parallel,
              "what to do with several GPUs when no launcher is at work: auto starts a rank for each")}};
}

FlagGroup rank_flags(train::TrainingArguments& training, PlaceArguments& place) {
  return {
      "Several ranks: processes that train together, each on its share of every batch",
      {option("nproc_per_node", "N|auto|gpu|cpu", place.nproc_per_node,
              "start this many ranks on this machine, as ranktune launch does"),
       option("local_rank", "N", place.local_rank,
              "-1: one process; 0 or more: the number of this process on its machine, which launchers set; "
              "rarely typed"),
       option("ddp_backend", "gloo|nccl|mpi", place.ddp_backend, "how ranks talk; default: by the device"),
       option("ddp_timeout", "SECONDS", place.ddp_timeout, "how long ranks wait for each other"),
       option("ddp_bucket_cap_mb", "X", training.ddp_bucket_cap_mb, "size of what travels at once"),
       boolean_flag("ddp_find_unused_parameters", training.ddp_find_unused_parameters,
                    "look for parameters outside the loss"),
       boolean_flag("ddp_static_graph", training.ddp_static_graph,
                    "every step takes the same path through the model"),
       choice<train::SamplerType>(
           "sampler",
           {{"batches", train::SamplerType::batches}, {"distributed", train::SamplerType::distributed}},
           training.sampler,
           "how ranks share the rows: whole batches in turn, each row once; or as torch's "
           "DistributedSampler, which "
           "repeats rows until all ranks have as many")}};
}

FlagGroup other_flags(train::TrainingArguments& training) {
  return {"Other", {boolean_flag("disable_tqdm", training.disable_tqdm, "no progress line")}};
}

}  // namespace

Flag device_flag(PlaceArguments& place) {
  return choice<std::string>("device", {{"auto", ""}, {"cpu", "cpu"}, {"cuda", "cuda"}, {"xla", "xla"}},
                             place.device,
                             "auto: a GPU where there is one; xla: a TPU, with the library that "
                             "RANKTUNE_XLA_LIBRARY names");
}

FlagTable train_flags(train::TextClassificationArguments& arguments, PlaceArguments& place) {
  train::TrainingArguments& training = arguments.training;
  return FlagTable({model_flags(arguments.model),
                    data_flags(arguments.data),
                    task_flags(training),
                    training_flags(training),
                    optimizer_flags(training),
                    interval_flags(training),
                    device_flags(training, place),
                    rank_flags(training, place),
                    other_flags(training),
                    {kIgnoredGroup, ignored_trainer_flags()},
                    {kRefusedGroup, refused_trainer_flags()}});
}

}  // namespace ranktune::cli
