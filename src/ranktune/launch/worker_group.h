#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "ranktune/launch/console_queue.h"
#include "ranktune/launch/group_watchdog.h"
#include "ranktune/launch/launcher.h"
#include "ranktune/launch/log_folder.h"
#include "ranktune/launch/report.h"
#include "ranktune/launch/signal_source.h"
#include "ranktune/launch/worker_stream.h"

namespace ranktune::launch {

using Clock = std::chrono::steady_clock;

/// What all attempts of a launcher share.
struct LauncherParts {
  const LaunchPlan& plan;
  const Variables& variables;
  SignalSource& signals;
  const GroupWatchdog& watchdog;
  const LogFolder& logs;
  ConsoleQueue& console;
  std::int64_t master_port = 0;
  bool port_is_held = false;
};

/// One rank of one attempt.
struct Worker {
  std::int64_t local_rank = 0;
  pid_t pid = -1;  ///< also the number of its process group
  Clock::time_point started = {};
  std::filesystem::path error_file = {};
  WorkerStream out;
  WorkerStream err;
  bool ended = false;
  bool group_gone = false;  ///< neither it nor what it started is left in its group
  std::optional<Clock::time_point> stopped = {};
  WorkerEnd end = {};  ///< complete once `ended`
};

/// The processes of one attempt: starting, signalling, reaping, reading. What to do about them is the
/// supervisor's.
class WorkerGroup {
 public:
  /// Starts all workers. THROWS: UsageError, Error; those that were started are then ended.
  WorkerGroup(const LauncherParts& parts, std::int64_t attempt);
  /// Kills what is left.
  ~WorkerGroup();
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  enum class Change { ended, stopped, went_on };
  /// Asks the system what has happened to the processes, and tells each change once.
  void reap(const std::function<void(Worker&, Change)>& changed);

  std::vector<Worker>& workers() noexcept { return workers_; }
  /// Workers that run or are stopped.
  std::int64_t alive() const;
  bool all_gone() const;
  /// Asks every group that is left to end, stopped ones as well.
  void ask_to_end(int signal);
  /// Sends a signal to the workers themselves, not to what they started.
  void pass_on(int signal);
  /// Takes a group for gone that does not go, even after SIGKILL.
  void give_up();
  /// Reads to the end what the workers have written, and their error files.
  void finish_streams();
  std::vector<WorkerEnd> ends() const;

 private:
  void start(std::int64_t local_rank, std::int64_t attempt);
  void note_status(Worker& worker, int status, const std::function<void(Worker&, Change)>& changed);
  void look_for_groups();

  const LauncherParts& parts_;
  std::vector<Worker> workers_;
};

}  // namespace ranktune::launch
