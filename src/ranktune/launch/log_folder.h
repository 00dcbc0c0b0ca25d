#pragma once

#include <cstdint>
#include <filesystem>

#include "ranktune/launch/launcher.h"

namespace ranktune::launch {

/// Where the workers' logs and error files are, laid out as torchrun does:
/// <log_dir>/<run id>_<random>/attempt_<n>/<local rank>/{stdout.log,stderr.log,error.json}.
/// Without a --log_dir it is in the system's folder for temporary files, and is removed at the end unless
/// streams were to go to files.
class LogFolder {
 public:
  /// THROWS: UsageError when the folder cannot be made.
  explicit LogFolder(const LaunchPlan& plan);
  ~LogFolder();
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// True when somebody will look for files in it.
  bool kept() const noexcept { return kept_; }
  /// The folder of one start of one worker, made if need be. THROWS: Error.
  std::filesystem::path worker_folder(std::int64_t attempt, std::int64_t local_rank) const;

 private:
  std::filesystem::path path_;
  bool kept_;
};

}  // namespace ranktune::launch
