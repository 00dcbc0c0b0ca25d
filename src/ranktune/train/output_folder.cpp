#include "ranktune/train/output_folder.h"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <system_error>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;

/// What a BERT tokenizer may be made of; a folder has some of them.
constexpr const char* kTokenizerFiles[] = {"tokenizer.json", "tokenizer_config.json", "vocab.txt",
                                           "special_tokens_map.json", "added_tokens.json"};

/// The folder itself, or the nearest one above it that is there.
fs::path nearest_existing(const fs::path& folder) {
  std::error_code ignored;
  fs::path path = fs::absolute(folder);
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

bool holds_files(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder, ignored) &&
         fs::directory_iterator(folder, ignored) != fs::directory_iterator();
}

/// A line of a file whose fields must not break it.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == '\t' || letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

}  // namespace

void require_usable_output(const TrainingArguments& training) {
  const std::string name = "--output_dir " + training.output_dir.string();
  const fs::path existing = nearest_existing(training.output_dir);
  std::error_code ignored;
  if (!fs::is_directory(existing, ignored))
    throw UsageError(name + ": " + existing.string() + " is no folder: choose another place");
  if (::access(existing.c_str(), W_OK | X_OK) != 0)
    throw UsageError(name + ": " + existing.string() +
                     " cannot be written by this user: choose another place or change its permissions");
  if (training.do_train && !training.overwrite_output_dir && holds_files(training.output_dir))
    throw UsageError(
        name +
        ": the folder is not empty: choose another one, or add --overwrite_output_dir to write into it");
}

void write_model_folder(const models::SequenceClassifier& model, const fs::path& source,
                        const fs::path& folder) {
  models::save_sequence_classifier(model, folder);
  for (const char* file : kTokenizerFiles)
    if (fs::exists(source / file)) core::write_file_atomically(folder / file, core::read_file(source / file));
}

void write_predict_results(const fs::path& folder, const std::vector<std::string>& predictions) {
  core::write_file_atomically(folder / "predict_results.txt", [&](std::ostream& out) {
    out << "index\tprediction\n";
    for (std::size_t row = 0; row < predictions.size(); ++row)
      out << row << '\t' << on_one_line(predictions[row]) << '\n';
  });
}

}  // namespace ranktune::train
