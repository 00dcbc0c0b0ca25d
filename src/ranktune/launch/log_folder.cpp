#include "ranktune/launch/log_folder.h"

#include <stdlib.h>

#include <algorithm>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

namespace fs = std::filesystem;

bool any_to_file(const std::vector<WorkerStreams>& streams) {
  return std::any_of(streams.begin(), streams.end(),
                     [](const WorkerStreams& worker) { return worker.out_to_file || worker.err_to_file; });
}

fs::path make_folder(const fs::path& parent, std::string name) {
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) throw UsageError("--log_dir " + parent.string() + ": cannot be made: " + code.message());
  std::replace(name.begin(), name.end(), '/', '_');
  std::string path = (parent / (name + "_XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr)
    throw UsageError("--log_dir " + parent.string() +
                     ": nothing can be written there: " + system_reason(errno));
  return path;
}

}  // namespace

LogFolder::LogFolder(const LaunchPlan& plan)
    : path_(plan.log_dir ? make_folder(*plan.log_dir, plan.run_id)
                         : make_folder(fs::temp_directory_path(), "ranktune_launch_" + plan.run_id)),
      kept_(plan.log_dir || any_to_file(plan.streams)) {}

LogFolder::~LogFolder() {
  std::error_code ignored;
  if (!kept_) fs::remove_all(path_, ignored);
}

fs::path LogFolder::worker_folder(std::int64_t attempt, std::int64_t local_rank) const {
  const fs::path folder = path_ / ("attempt_" + std::to_string(attempt)) / std::to_string(local_rank);
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw Error(folder.string() + ": cannot be made: " + code.message());
  return folder;
}

}  // namespace ranktune::launch
