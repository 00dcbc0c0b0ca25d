#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/data/labels.h"
#include "ranktune/models/config.h"
#include "ranktune/text/tokenizer.h"

/// What a model folder says about its task, held against the data and the tokenizer. No LibTorch.
namespace ranktune::train {

/// Whether the model was made for a regression. THROWS: CheckpointError for a model that gives a row several
/// labels.
data::TaskKind task_of(const models::ModelConfig& config, const std::filesystem::path& folder);

/// The labels of a fine-tuned model as the data spells them: `found` are those of a file that it is measured
/// on. THROWS: UsageError when the model has not been trained for them.
data::LabelSet labels_of_model(const models::ModelConfig& config, const data::LabelSet& found,
                               core::Logger& logger);

/// THROWS: UsageError, naming the flag, when there is no such folder.
void require_model_folder(const std::filesystem::path& folder, const std::string& flag);

/// THROWS: CheckpointError when the tokenizer can give ids that the embedding has no row for.
void require_vocabulary_fits(const text::Tokenizer& tokenizer, const models::ModelConfig& config,
                             const std::filesystem::path& folder);

/// `wanted`, or what the model and its tokenizer allow when that is less, with a note.
std::int64_t allowed_length(std::int64_t wanted, const text::Tokenizer& tokenizer,
                            const models::ModelConfig& config, core::Logger& logger);

}  // namespace ranktune::train
