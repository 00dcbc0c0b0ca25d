#include "ranktune/train/task.h"

#include <algorithm>
#include <optional>

#include "ranktune/core/error.h"

namespace ranktune::train {
namespace {

std::vector<std::string> numbers_below(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

data::TaskKind task_of(const models::ModelConfig& config, const std::filesystem::path& folder) {
  if (config.problem_type == "multi_label_classification")
    throw CheckpointError(
        (folder / "config.json").string() +
        ": problem_type is multi_label_classification, which is not supported: use a model with "
        "one label for each row");
  const bool regression = config.problem_type == "regression" || config.num_labels() == 1;
  return regression ? data::TaskKind::regression : data::TaskKind::classification;
}

data::LabelSet labels_of_model(const models::ModelConfig& config, const data::LabelSet& found,
                               core::Logger& logger) {
  if (data::has_default_names(config.id2label)) {
    // Without names the ids themselves can be labels, even when the file does not hold all of them.
    data::LabelSet numbers(numbers_below(config.num_labels()));
    const bool all_are_ids =
        std::all_of(found.names().begin(), found.names().end(),
                    [&](const std::string& name) { return numbers.find(name).has_value(); });
    if (all_are_ids) return numbers;
  }
  data::LabelSet matched = data::match_labels(data::LabelSet(config.id2label), found, logger);
  if (matched.size() == config.num_labels()) return matched;
  throw UsageError("the model has " + std::to_string(config.num_labels()) + " labels and the data has " +
                   std::to_string(found.size()) +
                   " others: measure it on data with its own labels, or train it first with --do_train");
}

void require_model_folder(const std::filesystem::path& folder, const std::string& flag) {
  if (std::filesystem::is_directory(folder)) return;
  throw UsageError(
      flag + " " + folder.string() +
      ": there is no such folder; models are read from a folder with config.json, model.safetensors "
      "and a tokenizer, not from a hub");
}

void require_vocabulary_fits(const text::Tokenizer& tokenizer, const models::ModelConfig& config,
                             const std::filesystem::path& folder) {
  if (tokenizer.vocab_size() <= config.vocab_size) return;
  throw CheckpointError(folder.string() + ": the tokenizer has ids up to " +
                        std::to_string(tokenizer.vocab_size() - 1) + ", but the embedding has only " +
                        std::to_string(config.vocab_size) +
                        " rows (vocab_size in config.json): put the tokenizer files of this model there");
}

std::int64_t allowed_length(std::int64_t wanted, const text::Tokenizer& tokenizer,
                            const models::ModelConfig& config, core::Logger& logger) {
  const std::int64_t limit = std::min(tokenizer.model_max_length().value_or(config.max_position_embeddings),
                                      config.max_position_embeddings);
  if (wanted <= limit) return wanted;
  logger.info("--max_seq_length " + std::to_string(wanted) +
              " is more than the model takes: rows are cut to " + std::to_string(limit) + " tokens");
  return limit;
}

}  // namespace ranktune::train
