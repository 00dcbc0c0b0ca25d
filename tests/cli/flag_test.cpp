#include "cli/flag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/train_flags.h"
#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::cli {
namespace {

using tests::error_text;

class TrainFlags : public ::testing::Test {
 protected:
  std::string found(std::string_view name) const {
    const FlagTable::Match match = table_.find(name);
    return (match.negated ? "not " : "") + match.flag->name;
  }
  std::string complaint(std::string_view name) const {
    return error_text<UsageError>([&] { table_.find(name); });
  }

  train::TextClassificationArguments arguments_;
  PlaceArguments place_;
  FlagTable table_ = train_flags(arguments_, place_);
};

TEST_F(TrainFlags, AreFoundByBothSpellings) {
  EXPECT_EQ(found("learning_rate"), "learning_rate");
  EXPECT_EQ(found("learning-rate"), "learning_rate");
  EXPECT_EQ(found("learning_rate"), found("learning-rate"));
}

TEST_F(TrainFlags, AreFoundByTheirOlderNames) {
  EXPECT_EQ(found("evaluation_strategy"), "eval_strategy");
  EXPECT_EQ(found("per_gpu_train_batch_size"), "per_device_train_batch_size");
  EXPECT_EQ(found("per_gpu_eval_batch_size"), "per_device_eval_batch_size");
  EXPECT_EQ(found("no_cuda"), "use_cpu");
  EXPECT_EQ(found("no-cuda"), "use_cpu");
}

TEST_F(TrainFlags, AreNegatedByNo) {
  EXPECT_EQ(found("no_do_train"), "not do_train");
  EXPECT_EQ(found("no-pad-to-max-length"), "not pad_to_max_length");
  EXPECT_EQ(found("no_header"), "no_header");
  EXPECT_EQ(complaint("no_learning_rate"), "unknown flag --no_learning_rate; did you mean --learning_rate?");
}

TEST_F(TrainFlags, MayBeShortenedWhileOneBeginsSo) {
  EXPECT_EQ(found("text_column_name"), "text_column_names");
  EXPECT_EQ(found("learn"), "learning_rate");
  EXPECT_EQ(found("evaluation"), "eval_strategy");
  EXPECT_EQ(found("seed"), "seed");
  EXPECT_EQ(complaint("warmup"), "--warmup can be more than one flag: --warmup_steps, --warmup_ratio");
  EXPECT_EQ(found("fp16"), "fp16");  // although fp16_full_eval begins so, too
}

TEST_F(TrainFlags, SuggestTheNearestOneForASlip) {
  EXPECT_EQ(complaint("learning_rte"), "unknown flag --learning_rte; did you mean --learning_rate?");
  EXPECT_EQ(complaint("batch-sizes"), "unknown flag --batch-sizes");
  EXPECT_EQ(complaint("per-device-train-batchsize"),
            "unknown flag --per-device-train-batchsize; did you mean --per_device_train_batch_size?");
  EXPECT_EQ(complaint(""), "unknown flag --");
}

TEST_F(TrainFlags, HaveEachSpellingOnce) {
  std::vector<std::string> spellings;
  for (const FlagGroup& group : table_.groups()) {
    for (const Flag& flag : group.flags) {
      spellings.push_back(flag.name);
      spellings.insert(spellings.end(), flag.aliases.begin(), flag.aliases.end());
    }
  }
  std::sort(spellings.begin(), spellings.end());
  const auto twice = std::adjacent_find(spellings.begin(), spellings.end());
  EXPECT_EQ(twice, spellings.end()) << *twice;
}

TEST_F(TrainFlags, CoverTheTrainerAndItsScripts) {
  // Fields of TrainingArguments (5.24) and of run_glue whose absence would turn a working command line into
  // an "unknown flag".
  for (const char* name : {"accelerator_config",
                           "adam_beta1",
                           "auto_find_batch_size",
                           "bf16",
                           "data_seed",
                           "dataloader_num_workers",
                           "ddp_backend",
                           "ddp_find_unused_parameters",
                           "deepspeed",
                           "eval_accumulation_steps",
                           "eval_delay",
                           "fp16",
                           "fsdp",
                           "full_determinism",
                           "gradient_checkpointing",
                           "greater_is_better",
                           "group_by_length",
                           "hub_model_id",
                           "label_smoothing_factor",
                           "load_best_model_at_end",
                           "logging_dir",
                           "metric_for_best_model",
                           "neftune_noise_alpha",
                           "optim",
                           "overwrite_cache",
                           "pad_to_max_length",
                           "preprocessing_num_workers",
                           "push_to_hub",
                           "remove_unused_columns",
                           "report_to",
                           "resume_from_checkpoint",
                           "run_name",
                           "save_safetensors",
                           "save_total_limit",
                           "task_name",
                           "tf32",
                           "torch_compile",
                           "train_sampling_strategy",
                           "use_fast_tokenizer"})
    EXPECT_NE(table_.find_exact(name).flag, nullptr) << name;
}

}  // namespace
}  // namespace ranktune::cli
