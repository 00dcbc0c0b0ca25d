#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/worker_group.h"

namespace ranktune::launch {

/// How one attempt ended.
struct AttemptOutcome {
  std::optional<WorkerFailure> failure = {};
  int signal = 0;  ///< the launcher was told to end; 0: it was not
};

/// Watches over the workers of one attempt until nothing of them is left. All it does is answer to events:
/// signals, bytes on pipes, a console that can be written to, and a few deadlines.
class Supervisor {
 public:
  Supervisor(const LauncherParts& parts, WorkerGroup& group) : parts_(parts), group_(group) {}
  AttemptOutcome run();

 private:
  /// running -> ending (asked to) -> killing (SIGKILL was sent).
  enum class Stage { running, ending, killing };

  void wait_for_events();
  void read_streams();
  void show_progress();
  void handle_signal(int signal);
  void handle_change(Worker& worker, WorkerGroup::Change change);
  void handle_stop(const Worker& worker);
  void look_at_clock();
  Clock::time_point stop_limit(const Worker& worker) const;
  void fail_stopped(Worker& worker);
  void begin_ending(int signal, double grace);
  void begin_killing();
  void sweep_leftovers();
  AttemptOutcome report();
  int timeout_ms() const;
  void say(const std::string& message) { parts_.console.say(message); }

  const LauncherParts& parts_;
  WorkerGroup& group_;
  Stage stage_ = Stage::running;
  bool failed_ = false;                             ///< a rank has, and nobody had asked it to end
  int told_to_end_ = 0;                             ///< the signal
  std::optional<Clock::time_point> deadline_ = {};  ///< of the stage
  std::optional<Clock::time_point> progress_due_ = {};
};

}  // namespace ranktune::launch
