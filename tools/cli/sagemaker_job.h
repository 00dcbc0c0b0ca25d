#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/launch/launch_env.h"

/// Amazon SageMaker starts a container with `train` and leaves all it has to say in files below /opt/ml, or
/// below the folder that SAGEMAKER_BASE_DIR names. docs/sagemaker.md tells what becomes of them.
namespace ranktune::cli {

/// What the files ask for, as flags of `ranktune train`. Those of the command line come after them and win.
struct SageMakerJob {
  std::filesystem::path base;
  std::vector<std::string> words = {};  ///< "--name=value": model folder, channels, hyperparameters
  std::vector<std::string> notes = {};
};

/// Nothing where this is no training job of SageMaker's. THROWS: DataError for files that cannot be read.
std::optional<SageMakerJob> read_sagemaker_job(const launch::Variables& variables);

/// Leaves `message` where SageMaker shows it as the job's FailureReason, of which it takes 1024 bytes. The
/// first message of a machine stays: what comes later mostly follows from it. Nothing is written where this
/// is no job of SageMaker's.
void write_failure_reason(const launch::Variables& variables, std::string_view message);

}  // namespace ranktune::cli
