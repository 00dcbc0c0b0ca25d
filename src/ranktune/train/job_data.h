#pragma once

#include <cstdint>
#include <optional>

#include "ranktune/core/logger.h"
#include "ranktune/data/labels.h"
#include "ranktune/data/split.h"
#include "ranktune/models/config.h"
#include "ranktune/text/tokenizer.h"
#include "ranktune/train/dataset.h"
#include "ranktune/train/text_classification.h"

/// The files of a job, up to token ids. No LibTorch.
namespace ranktune::train {

/// All rows of a job, read and checked; what the job does not need is absent.
struct JobData {
  data::LabelScheme scheme;
  std::optional<data::SplitData> train, validation, test;
};

/// Reads the files that the job needs. `checkpoint`: the config of the model it starts from, whose labels are
/// kept where they fit. THROWS: as read_table, choose_text_columns, infer_labels, load_split.
JobData read_job_data(const TextClassificationArguments& arguments, const models::ModelConfig& checkpoint,
                      core::Logger& logger);

struct TokenLimits {
  std::int64_t max_length = 128;  ///< tokens of a row, special tokens included
  std::int64_t threads = 1;
};

/// Token ids of a split; its labels move along.
Dataset tokenize(data::SplitData& split, const text::Tokenizer& tokenizer, const TokenLimits& limits,
                 Observer& observer);

}  // namespace ranktune::train
