// What command lines for the Trainer carry beyond the flags that ranktune has. A script that worked there
// should either work here or be told, for each such flag, why it cannot.
#include "cli/train_flags.h"

namespace ranktune::cli {
namespace {

constexpr FlagKind kBoolean = FlagKind::boolean;
constexpr FlagKind kValue = FlagKind::text;
constexpr FlagKind kWords = FlagKind::names;

void append(std::vector<Flag>& flags, std::vector<Flag> more) {
  for (Flag& flag : more) flags.push_back(std::move(flag));
}

std::vector<Flag> precision_and_memory() {
  const std::string fp32 = "it computes in 32-bit floats";
  const std::string memory =
      "activations are kept; use a smaller batch with --gradient_accumulation_steps to save memory";
  const std::string fused = "its operations are compiled and fused already";
  return {refused_flag("fp16", kBoolean, fp32),
          refused_flag("bf16", kBoolean, fp32),
          refused_flag("fp16_full_eval", kBoolean, fp32),
          refused_flag("bf16_full_eval", kBoolean, fp32),
          refused_flag("tf32", kBoolean, fp32),
          refused_flag("fp16_opt_level", kValue, fp32, {"O1"}),
          refused_flag("half_precision_backend", kValue, fp32, {"auto"}),
          refused_flag("fp16_backend", kValue, fp32, {"auto"}),
          refused_flag("gradient_checkpointing", kBoolean, memory),
          refused_flag("gradient_checkpointing_kwargs", kValue, memory, {"{}"}),
          refused_flag("activation_checkpointing", kBoolean, memory),
          refused_flag("activation_checkpointing_kwargs", kValue, memory, {"{}"}),
          refused_flag("auto_find_batch_size", kBoolean, "give --per_device_train_batch_size"),
          refused_flag("torch_compile", kBoolean, fused),
          refused_flag("torch_compile_backend", kValue, fused),
          refused_flag("torch_compile_mode", kValue, fused),
          refused_flag("torchdynamo", kValue, fused),
          refused_flag("jit_mode_eval", kBoolean, fused),
          refused_flag("use_ipex", kBoolean, fused),
          refused_flag("use_liger_kernel", kBoolean, fused),
          refused_flag("liger_kernel_config", kValue, fused, {"{}"})};
}

std::vector<Flag> distribution() {
  const std::string one = "its ranks each hold a whole model";
  return {refused_flag("deepspeed", kValue, one),
          refused_flag("fsdp", kWords, one, {""}),
          refused_flag("fsdp_config", kValue, one, {"{}"}),
          refused_flag("fsdp_min_num_params", kValue, one, {"0"}),
          refused_flag("fsdp_transformer_layer_cls_to_wrap", kValue, one),
          refused_flag("parallelism_config", kValue, one, {"{}"}),
          refused_flag("sharded_ddp", kValue, one, {""}),
          refused_flag("tpu_num_cores", kValue, one),
          refused_flag("mp_parameters", kValue, one, {""}),
          refused_flag("use_mps_device", kBoolean, "it computes on CPU or CUDA")};
}

std::vector<Flag> hub_and_checkpoints() {
  const std::string hub = "it never talks to a model hub; copy --output_dir there yourself";
  const std::string last = "the last model is the one that is kept";
  const std::string resume = "training starts from --model_name_or_path each time";
  std::vector<Flag> flags = {
      refused_flag("push_to_hub", kBoolean, hub),
      refused_flag("hub_always_push", kBoolean, hub),
      refused_flag("hub_private_repo", kBoolean, hub),
      refused_flag("hub_model_id", kValue, hub),
      refused_flag("hub_token", kValue, hub, {"<HUB_TOKEN>"}),
      refused_flag("hub_revision", kValue, hub),
      refused_flag("push_to_hub_model_id", kValue, hub),
      refused_flag("push_to_hub_organization", kValue, hub),
      refused_flag("push_to_hub_token", kValue, hub, {"<PUSH_TO_HUB_TOKEN>"}),
      refused_flag("hub_strategy", kValue, hub, {"every_save"}),
      refused_flag("token", kValue, "models are read from local folders: none is needed"),
      refused_flag("use_auth_token", kValue, "models are read from local folders: none is needed",
                   {"false", "False"}),
      refused_flag("model_revision", kValue, "models are read from local folders", {"main"}),
      refused_flag("trust_remote_code", kBoolean, "code that comes with a model is never run"),
      refused_flag("resume_from_checkpoint", kValue, resume, {"false", "False"}),
      refused_flag("ignore_data_skip", kBoolean, resume),
      refused_flag("restore_callback_states_from_checkpoint", kBoolean, resume),
      refused_flag("load_best_model_at_end", kBoolean, last),
      refused_flag("metric_for_best_model", kValue, last),
      refused_flag("greater_is_better", kBoolean, last, {"true"}),
      refused_flag("enable_jit_checkpoint", kBoolean, "save with --save_strategy and --save_steps")};
  return flags;
}

std::vector<Flag> optimizer_and_loss() {
  const std::string adamw =
      "AdamW as --adam_beta1, --adam_beta2, --adam_epsilon and --weight_decay set it is the only one";
  return {refused_flag("optim", kValue, adamw, {"adamw_torch", "adamw_torch_fused"}),
          refused_flag("optim_args", kValue, adamw, {""}),
          refused_flag("optim_target_modules", kWords, adamw),
          refused_flag("adafactor", kBoolean, adamw),
          refused_flag("neftune_noise_alpha", kValue, "embeddings get no noise"),
          refused_flag("prediction_loss_only", kBoolean, "an evaluation always computes its metrics"),
          refused_flag("eval_delay", kValue, "evaluation begins with the first interval", {"0"}),
          refused_flag("eval_on_start", kBoolean, "evaluation begins with the first interval"),
          refused_flag("evaluate_during_training", kBoolean, "write --eval_strategy steps"),
          refused_flag("include_for_metrics", kWords, "metrics are accuracy and F1, or those of regression"),
          refused_flag("metric_name", kValue, "metrics are accuracy and F1, or those of regression",
                       {"accuracy"}),
          refused_flag("label_names", kWords, "name the column with --label_column_name"),
          refused_flag("report_to", kWords, "results go to the console and trainer_state.json",
                       {"none", "", "[]"}),
          refused_flag("debug", kValue, "see --on_nonfinite for losses that are not finite", {""})};
}

std::vector<Flag> data_and_model() {
  const std::string files = "give --train_file and --validation_file";
  const std::string folder = "it is read from the folder --model_name_or_path";
  const std::string splits = "each file is one split";
  return {refused_flag("task_name", kValue, files),
          refused_flag("dataset_name", kValue, files),
          refused_flag("dataset_config_name", kValue, files),
          refused_flag("data_dir", kValue, files),
          refused_flag("train_split_name", kValue, splits, {"train"}),
          refused_flag("validation_split_name", kValue, splits, {"validation"}),
          refused_flag("test_split_name", kValue, splits, {"test"}),
          refused_flag("remove_splits", kWords, splits, {""}),
          refused_flag("shuffle_train_dataset", kBoolean,
                       "rows are shuffled in every epoch; to sample, shuffle the file"),
          refused_flag("do_regression", kBoolean, "a label column of numbers with a point means regression"),
          refused_flag("length_column_name", kValue, "lengths are counted in tokens", {"length"}),
          refused_flag("model_type", kValue, folder, {"bert"}),
          refused_flag("config_name", kValue, folder),
          refused_flag("tokenizer_name", kValue, folder)};
}

std::vector<Flag> ignored_data_flags() {
  return {
      ignored_flag("use_fast_tokenizer", kBoolean, "there is one tokenizer, and it is fast", {"true"}),
      ignored_flag("do_lower_case", kBoolean, "the tokenizer's files decide"),
      ignored_flag("cache_dir", kValue, "nothing is downloaded"),
      ignored_flag("overwrite_cache", kBoolean, "tokenised rows are not kept between runs"),
      ignored_flag("preprocessing_num_workers", kValue, "--num_threads counts for tokenising too"),
      ignored_flag("remove_columns", kWords, "columns that are not named are not used"),
      ignored_flag("remove_unused_columns", kBoolean, "columns that are not named are not used", {"true"}),
      ignored_flag("shuffle_seed", kValue, "--data_seed decides the order of rows", {"42"}),
      ignored_flag("dataloader_num_workers", kValue, "no worker processes are needed", {"0"}),
      ignored_flag("dataloader_pin_memory", kBoolean, "no worker processes are needed", {"true"}),
      ignored_flag("dataloader_persistent_workers", kBoolean, "no worker processes are needed"),
      ignored_flag("dataloader_prefetch_factor", kValue, "no worker processes are needed"),
      ignored_flag("dataloader_multiprocessing_context", kValue, "no worker processes are needed"),
      ignored_flag("dataloader_in_order", kBoolean, "batches always come in order", {"true"})};
}

std::vector<Flag> ignored_logging_flags() {
  return {ignored_flag("logging_dir", kValue, "logs go to the console and trainer_state.json"),
          ignored_flag("logging_nan_inf_filter", kBoolean, "see --on_nonfinite", {"true"}),
          ignored_flag("log_level", kValue, "messages are few", {"passive"}),
          ignored_flag("log_level_replica", kValue, "there are no replicas", {"warning"}),
          ignored_flag("log_on_each_node", kBoolean, "there is one process", {"true"}),
          ignored_flag("include_tokens_per_second", kBoolean, "tokens are not counted in the log"),
          ignored_flag("include_inputs_for_metrics", kBoolean,
                       "metrics are accuracy and F1, or those of regression"),
          ignored_flag("run_name", kValue, "no service is told about the run"),
          ignored_flag("project", kValue, "no service is told about the run", {"huggingface"}),
          ignored_flag("trackio_space_id", kValue, "no service is told about the run", {"trackio"}),
          ignored_flag("trackio_bucket_id", kValue, "no service is told about the run"),
          ignored_flag("trackio_static_space_id", kValue, "no service is told about the run"),
          ignored_flag("skip_memory_metrics", kBoolean, "memory is not measured", {"true"}),
          ignored_flag("include_num_input_tokens_seen", kValue, "tokens are not counted in the log",
                       {"no", "false", "False"}),
          ignored_flag("save_total_limit", kValue, "no saved model is ever deleted"),
          ignored_flag("save_safetensors", kBoolean, "models are always safetensors", {"true"}),
          ignored_flag("save_only_model", kBoolean, "no optimizer state is saved for it to leave out"),
          ignored_flag("save_on_each_node", kBoolean, "there is one process")};
}

std::vector<Flag> ignored_training_flags() {
  const std::string one = "there is one process";
  return {ignored_flag("full_determinism", kBoolean, "--seed alone decides every random number"),
          ignored_flag("eval_accumulation_steps", kValue, "predictions leave the device batch by batch"),
          ignored_flag("eval_do_concat_batches", kBoolean, "metrics are always over all rows", {"true"}),
          ignored_flag("eval_use_gather_object", kBoolean, one),
          ignored_flag("batch_eval_metrics", kBoolean, "metrics are always over all rows"),
          ignored_flag("average_tokens_across_devices", kBoolean, one, {"true"}),
          ignored_flag("accelerator_config", kValue, one, {"{}"}),
          ignored_flag("dispatch_batches", kBoolean, one),
          ignored_flag("split_batches", kBoolean, one),
          ignored_flag("ray_scope", kValue, one, {"last"}),
          ignored_flag("xpu_backend", kValue, one),
          ignored_flag("past_index", kValue, "encoders have no such state", {"-1"}),
          ignored_flag("use_cache", kBoolean, "encoders have no such cache"),
          ignored_flag("torch_empty_cache_steps", kValue, "memory is reused"),
          ignored_flag("ddp_broadcast_buffers", kBoolean, "these models have no buffers", {"true"})};
}

}  // namespace

std::vector<Flag> ignored_trainer_flags() {
  std::vector<Flag> flags = ignored_data_flags();
  append(flags, ignored_logging_flags());
  append(flags, ignored_training_flags());
  return flags;
}

std::vector<Flag> refused_trainer_flags() {
  std::vector<Flag> flags = precision_and_memory();
  append(flags, distribution());
  append(flags, hub_and_checkpoints());
  append(flags, optimizer_and_loss());
  append(flags, data_and_model());
  return flags;
}

}  // namespace ranktune::cli
