#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ranktune/models/sequence_classifier.h"
#include "ranktune/train/training_arguments.h"

/// Where a job's files go.
namespace ranktune::train {

/// Looks without writing. THROWS: UsageError for a folder that is not empty (when training, unless
/// overwrite_output_dir), that is a file, or that cannot be written or made.
void require_usable_output(const TrainingArguments& training);

/// Writes config.json, model.safetensors and copies of the tokenizer's files, which lie in `source`.
void write_model_folder(const models::SequenceClassifier& model, const std::filesystem::path& source,
                        const std::filesystem::path& folder);

/// predict_results.txt as run_classification writes it: a head, then the number and the prediction of each
/// row.
void write_predict_results(const std::filesystem::path& folder, const std::vector<std::string>& predictions);

}  // namespace ranktune::train
