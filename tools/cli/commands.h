#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/checks.h"
#include "cli/sagemaker_job.h"
#include "cli/train_flags.h"
#include "ranktune/train/training_arguments.h"

/// The verbs of ranktune: words in, checked arguments out. No LibTorch, no printing, no reading of the
/// environment.
namespace ranktune::cli {

struct TrainCommand {
  train::TextClassificationArguments arguments;
  PlaceArguments place;
  std::vector<std::string> notes;  ///< about flags that changed nothing; for the log
  bool help = false;               ///< only --help is wanted: nothing else holds
};

struct PredictCommand {
  train::PredictArguments arguments;
  bool disable_tqdm = false;
  bool help = false;
};

/// `words` are those after the verb: flags, and at most one args.json, over which flags win.
/// A job's flags come before both. THROWS: UsageError, DataError (args.json).
TrainCommand parse_train(std::span<const std::string> words,
                         const std::optional<SageMakerJob>& job = std::nullopt);
/// THROWS: UsageError.
PredictCommand parse_predict(std::span<const std::string> words);

std::string train_help();
std::string predict_help();
/// What `ranktune` alone and `ranktune --help` say.
std::string general_help();

/// The verbs, for "did you mean".
std::vector<std::string> verbs();

}  // namespace ranktune::cli
