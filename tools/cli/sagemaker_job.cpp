#include "cli/sagemaker_job.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"

namespace ranktune::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path base_folder(const launch::Variables& variables) {
  const std::string given = launch::value_of(variables, "SAGEMAKER_BASE_DIR");
  return given.empty() ? "/opt/ml" : given;
}

fs::path hyperparameters_of(const fs::path& base) {
  return base / "input" / "config" / "hyperparameters.json";
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// One word for a flag. Lists become names with commas, as the flags take them.
std::string word_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string names;
  for (const json& member : value) names += (names.empty() ? "" : ",") + word_of(member);
  return names;
}

/// All values arrive as texts, in which the SDK has mostly written JSON: "5e-05", "true", "\"gelu\"".
json decoded(const json& value) {
  if (!value.is_string()) return value;
  const std::string& text = value.get_ref<const std::string&>();
  json inner = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return inner.is_discarded() ? value : inner;
}

/// Those that speak to SageMaker's own software, not to the program that it starts.
bool is_for_sagemaker(const std::string& name) {
  return name.starts_with("sagemaker_") || name.starts_with("_tuning_");
}

void add_hyperparameters(const fs::path& path, SageMakerJob& job) {
  const json all = core::parse_json(core::read_file(path), path.string());
  if (!all.is_object())
    throw DataError({path.string()}, "must hold one JSON object with the hyperparameters");
  for (const auto& [name, text] : all.items()) {
    const json value = decoded(text);
    if (!is_for_sagemaker(name) && !value.is_null()) job.words.push_back("--" + name + "=" + word_of(value));
  }
}

/// Files of rows that lie in a channel, whatever its mode has put beside them.
std::vector<fs::path> tables_in(const fs::path& folder) {
  constexpr std::array<const char*, 4> kEndings = {".csv", ".tsv", ".json", ".jsonl"};
  std::vector<fs::path> tables;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file(none) &&
        std::find(kEndings.begin(), kEndings.end(), entry.path().extension()) != kEndings.end())
      tables.push_back(entry.path());
  return tables;
}

/// The first of these channels that there is, with exactly one table in it, gives the flag its file.
void add_channel(const std::string& flag, const std::vector<std::string>& names, SageMakerJob& job) {
  for (const std::string& name : names) {
    const fs::path folder = job.base / "input" / "data" / name;
    if (!is_there(folder)) continue;
    const std::vector<fs::path> tables = tables_in(folder);
    if (tables.size() == 1)
      job.words.push_back("--" + flag + "=" + tables.front().string());
    else
      job.notes.push_back("channel " + name + ": " + std::to_string(tables.size()) + " files of rows in " +
                          folder.string() + ", so --" + flag + " has to name one");
    return;
  }
}

}  // namespace

std::optional<SageMakerJob> read_sagemaker_job(const launch::Variables& variables) {
  SageMakerJob job{.base = base_folder(variables)};
  const fs::path hyperparameters = hyperparameters_of(job.base);
  if (!is_there(hyperparameters)) return std::nullopt;
  job.words.push_back("--output_dir=" + (job.base / "model").string());
  if (const fs::path model = job.base / "input" / "data" / "model"; is_there(model / "config.json"))
    job.words.push_back("--model_name_or_path=" + model.string());
  add_channel("train_file", {"train", "training"}, job);
  add_channel("validation_file", {"validation", "eval", "dev"}, job);
  add_channel("test_file", {"test"}, job);
  add_hyperparameters(hyperparameters, job);
  std::string line = "a job of SageMaker's in " + job.base.string() + ":";
  for (const std::string& word : job.words) line += " " + word;
  job.notes.insert(job.notes.begin(), line);
  return job;
}

void write_failure_reason(const launch::Variables& variables, std::string_view message) {
  constexpr std::size_t kMost = 1024;
  const fs::path base = base_folder(variables);
  if (!is_there(hyperparameters_of(base)) || !is_there(base / "output")) return;
  std::size_t size = std::min(message.size(), kMost);
  const auto is_continuation = [&](std::size_t i) {
    return (static_cast<unsigned char>(message[i]) & 0xC0U) == 0x80U;
  };
  while (size < message.size() && size > 0 && is_continuation(size)) --size;
  std::FILE* const file = std::fopen((base / "output" / "failure").c_str(), "wx");
  if (file == nullptr) return;  // there is one already, or it cannot be written, which is no second error
  std::fwrite(message.data(), 1, size, file);
  std::fclose(file);
}

}  // namespace ranktune::cli
