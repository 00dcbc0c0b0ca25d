#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {

/// The machines that a batch system has given to a job.
struct JobHosts {
  std::string platform;  ///< "LSF" or "PBS"
  std::vector<std::string> names =
      {};  ///< each once, as the system lists them; empty: its list is out of reach
  std::optional<std::int64_t> own =
      {};                   ///< place of this machine in `names`; nothing for one outside the job
  std::string source = {};  ///< the variable that holds or names the list
};

/// Reads LSF's and PBS's lists, which have a line or a word for every slot; nothing outside their jobs. A
/// list for jsrun begins with the machine of the batch script, which runs no rank.
std::optional<JobHosts> job_hosts(const VariableReader& variables, const FileReader& files);

}  // namespace ranktune::launch
