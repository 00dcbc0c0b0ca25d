// One forward pass of a model that ranktune has read.
#include <filesystem>

#include "ranktune/models/sequence_classifier.h"

bool model_answers(const std::filesystem::path& folder) {
  const auto loaded = ranktune::models::load_sequence_classifier(folder, {});
  const auto batch = ranktune::models::make_token_batch({1, 2, 3}, {0, 0, 0}, {0, 2, 3}, {0, 1}, at::kCPU);
  return loaded.model->forward(batch, {}).size(0) == 2;
}
