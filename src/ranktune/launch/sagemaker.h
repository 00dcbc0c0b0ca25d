#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {

/// The machines of a SageMaker training job, in the order that all of them see.
struct SageMakerHosts {
  std::vector<std::string> names;
  std::int64_t own = 0;  ///< place of this machine in `names`
  std::string source;    ///< the file
};

/// Reads input/config/resourceconfig.json below SAGEMAKER_BASE_DIR or /opt/ml; nothing where there is none.
/// THROWS: DataError for a file that is not as SageMaker writes it.
std::optional<SageMakerHosts> sagemaker_hosts(const VariableReader& variables, const FileReader& files);

/// Whether the job asks for SageMaker's own library of data-parallel training, which is Python's.
bool asks_for_smdistributed(const VariableReader& variables, const FileReader& files);

}  // namespace ranktune::launch
