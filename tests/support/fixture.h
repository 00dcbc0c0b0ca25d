#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranktune/core/files.h"
#include "ranktune/core/json.h"

/// Reads what scripts/make_fixtures.py wrote; tests/fixtures/README.md describes the files. No LibTorch.
namespace ranktune::tests {

inline std::filesystem::path fixture_path(const std::string& name) {
  return std::filesystem::path(RANKTUNE_SOURCE_DIR) / "tests" / "fixtures" / name;
}

inline nlohmann::json read_fixture(const std::string& name) {
  return core::read_json_file(fixture_path(name));
}

/// A float32 tensor as plain numbers, row-major.
struct FixtureTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The float32 tensors of a safetensors file, by name.
inline std::map<std::string, FixtureTensor> read_tensors(const std::filesystem::path& path) {
  const std::string content = core::read_file(path);
  std::uint64_t header_size = 0;
  if (content.size() < sizeof header_size) throw std::runtime_error(path.string() + ": no safetensors file");
  std::memcpy(&header_size, content.data(), sizeof header_size);
  const auto header = nlohmann::json::parse(content.substr(sizeof header_size, header_size));
  const std::size_t start = sizeof header_size + header_size;
  std::map<std::string, FixtureTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (entry.at("dtype") != "F32") throw std::runtime_error(path.string() + ": " + name + " is not float32");
    const auto range = entry.at("data_offsets").get<std::vector<std::size_t>>();
    FixtureTensor tensor{entry.at("shape").get<std::vector<std::int64_t>>(), {}};
    tensor.values.resize((range.at(1) - range.at(0)) / sizeof(float));
    if (start + range.at(1) > content.size())
      throw std::runtime_error(path.string() + ": too short for " + name);
    std::memcpy(tensor.values.data(), content.data() + start + range.at(0), range.at(1) - range.at(0));
    tensors.emplace(name, std::move(tensor));
  }
  return tensors;
}

/// A row of token ids as forward.json and gradients.json have it.
struct TokenRow {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> type_ids;
};

inline std::vector<TokenRow> token_rows(const nlohmann::json& fixture) {
  std::vector<TokenRow> rows;
  for (const auto& row : fixture.at("rows"))
    rows.push_back({row.at("ids").get<std::vector<std::int64_t>>(),
                    row.at("type_ids").get<std::vector<std::int64_t>>()});
  return rows;
}

/// What the Trainer logged for one update.
struct LoggedStep {
  std::int64_t step = 0;
  double epoch = 0, loss = 0, grad_norm = 0, learning_rate = 0;
};

/// One of the runs in training/: golden, golden_accumulated, constant, ragged.
struct TrainingRun {
  nlohmann::json arguments;         ///< flags by their names; what is absent has its default
  std::vector<std::string> labels;  ///< in the order of their ids
  std::vector<float> head_weight;   ///< [labels, hidden], before the first update
  std::vector<LoggedStep> history;
  double train_loss = 0, epoch = 0;
  double loss_before = 0, accuracy_before = 0;  ///< of dev.csv, before and after training
  double loss_after = 0, accuracy_after = 0;
};

inline TrainingRun read_training_run(const std::string& name) {
  const nlohmann::json file = read_fixture("training/" + name + ".json");
  TrainingRun run;
  run.arguments = file.at("arguments");
  run.labels = file.at("labels").get<std::vector<std::string>>();
  run.head_weight = file.at("head_weight").get<std::vector<float>>();
  for (const auto& entry : file.at("history"))
    run.history.push_back({entry.at("step").get<std::int64_t>(), entry.at("epoch").get<double>(),
                           entry.at("loss").get<double>(), entry.at("grad_norm").get<double>(),
                           entry.at("learning_rate").get<double>()});
  run.train_loss = file.at("train_loss").get<double>();
  run.epoch = file.at("epoch").get<double>();
  run.loss_before = file.at("eval_before").at("eval_loss").get<double>();
  run.accuracy_before = file.at("eval_before").at("eval_accuracy").get<double>();
  run.loss_after = file.at("eval_after").at("eval_loss").get<double>();
  run.accuracy_after = file.at("eval_after").at("eval_accuracy").get<double>();
  return run;
}

}  // namespace ranktune::tests
