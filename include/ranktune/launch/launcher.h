#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

/// Starts the ranks of one machine, watches over them, and ends them together: `ranktune launch`. Its flags
/// and the variables that it sets are torchrun's, so that programs written for torchrun run under it.
namespace ranktune::launch {

/// What a person asks for, as typed. torchrun's names and defaults.
struct LaunchOptions {
  std::string nproc_per_node = {};  ///< a number, or auto, gpu, cpu; empty: the platform's number, else 1
  std::string nnodes = "1";         ///< a number, N:N, or auto: as the platform says
  std::optional<std::int64_t> node_rank = {};    ///< place of this machine; needed when there are several
  std::optional<std::string> master_addr = {};   ///< where rank 0 runs
  std::optional<std::int64_t> master_port = {};  ///< default: a free port on one machine, 29500 on several
  bool standalone = false;                       ///< one machine, a free port, whatever else is given
  std::string rdzv_backend = "static";
  std::string rdzv_endpoint = {};  ///< HOST[:PORT], another way to say master_addr and master_port
  std::string rdzv_id = {};        ///< the job's id; empty: chosen
  std::int64_t max_restarts = 0;   ///< of the whole group, after a rank has failed
  std::string role = "default";
  std::optional<std::filesystem::path> log_dir = {};
  std::string redirects =
      {};                ///< streams that go to files only: 0, 1 (out), 2 (err), 3, or 0:3,1:2; empty: 0
  std::string tee = {};  ///< streams that go to files, too; empty: 3 with a log_dir and no redirects, else 0
  std::string local_ranks_filter = {};          ///< local ranks that appear on the console; empty: all
  std::optional<double> shutdown_timeout = {};  ///< seconds between the request to end and SIGKILL
  double stopped_timeout = 30;                  ///< seconds after which a stopped rank counts as failed
  bool module = false;                          ///< the program is a Python module
  bool no_python = false;                       ///< a program whose name ends in .py is started by itself
  std::vector<std::string> command = {};        ///< the program and its arguments
};

/// What there is to know about this machine. The functions are called only when their answer is needed.
struct HostFacts {
  std::string name = "localhost";
  std::int64_t cores = 1;                                       ///< that this process may use
  std::string fresh_id = {};                                    ///< unlike any other job's
  std::function<std::int64_t()> count_gpus = [] { return 0; };  ///< visible ones
  std::function<NodeEnv()> node = [] { return NodeEnv{}; };
};

/// Reads them from the system, with CUDA_VISIBLE_DEVICES and the platform's variables from `variables`.
HostFacts this_host(const Variables& variables);

/// A worker's standard output and standard error.
enum class Stream { out, err };

/// Where the two streams of one worker go.
struct WorkerStreams {
  bool out_to_file = false;
  bool err_to_file = false;
  bool out_to_console = true;
  bool err_to_console = true;
};

/// What will be started; nothing is left to guess.
struct LaunchPlan {
  std::string host = "localhost";
  std::int64_t local_world_size = 1;
  std::int64_t nodes = 1;
  std::int64_t node_rank = 0;
  std::string master_addr = "127.0.0.1";
  std::int64_t master_port = 0;  ///< 0: a free one is taken at the start
  std::string run_id = {};
  std::string role = "default";
  std::int64_t max_restarts = 0;
  std::int64_t threads_per_worker = 1;  ///< OMP_NUM_THREADS, unless the user set it
  std::optional<std::filesystem::path> log_dir = {};
  std::vector<WorkerStreams> streams = {};  ///< by local rank
  double signal_grace = 30;                 ///< seconds to end in after the launcher was asked to end
  double failure_grace = 4;                 ///< the same after a rank has failed
  double stopped_timeout = 30;
  std::vector<std::string> command = {};  ///< the interpreter first when there is one
  std::vector<std::string> notes = {};    ///< one line each, to be shown once

  std::int64_t world_size() const noexcept { return nodes * local_world_size; }
  std::int64_t rank(std::int64_t local_rank) const noexcept {
    return node_rank * local_world_size + local_rank;
  }
};

/// Every machine of a job is taken to run as many ranks as this one.
/// THROWS: UsageError naming the flag, its value and what it may be.
LaunchPlan plan_launch(const LaunchOptions& options, const Variables& variables, const HostFacts& host);

/// One start of one rank.
struct WorkerStart {
  std::int64_t local_rank = 0;
  std::int64_t restart_count = 0;
  std::int64_t master_port = 0;
  bool port_is_held = false;  ///< by the launcher of the machine of rank 0
  std::string error_file = {};
};

/// torchrun's variables for one rank, over `variables`, the launcher's own.
Variables worker_environment(const LaunchPlan& plan, const WorkerStart& start, const Variables& variables);

/// How a rank ended that should not have ended so.
struct WorkerFailure {
  std::int64_t rank = 0;
  std::int64_t local_rank = 0;
  std::int64_t pid = 0;
  std::string host = {};
  int exit_code = 0;                         ///< when signal is 0
  int signal = 0;                            ///< that ended it
  bool stopped = false;                      ///< it was stopped (SIGSTOP) and did not go on
  double seconds = 0;                        ///< after its start
  std::string message = {};                  ///< from its error file; mostly empty
  std::vector<std::string> last_lines = {};  ///< of its standard error

  /// As a shell shows it: the code, or 128 + the signal.
  int shell_code() const noexcept { return signal != 0 ? 128 + signal : exit_code; }
};

struct LaunchOutcome {
  int exit_code = 0;  ///< 0; that of the rank that failed first; or 128 + `signal`
  int signal = 0;     ///< the launcher was told to end by this one; 0: it was not
  std::int64_t restarts = 0;
  std::optional<WorkerFailure> failure = {};  ///< the first one of the last attempt
};

/// Where the workers' lines go, and the launcher's own, which begin with "ranktune launch: ".
struct LaunchConsole {
  int out = 1;
  int err = 2;
};

/// Runs the plan to its end. Nothing that it started is alive when it returns: each worker leads a session
/// and a process group of its own, and a watchdog process ends these groups should this process be killed.
/// Signals: SIGINT, SIGTERM, SIGHUP and SIGQUIT go to all groups, which then have `signal_grace` seconds; a
/// second SIGINT kills at once; SIGUSR1 and SIGUSR2 go to the workers. While it runs, these and SIGCHLD are
/// blocked in this thread. REQUIRES: no other thread, and no other child of this process that somebody waits
/// for. THROWS: UsageError when the program or the port cannot be used; Error when the system refuses a
/// resource.
LaunchOutcome run_launcher(const LaunchPlan& plan, const Variables& variables, const LaunchConsole& console);

}  // namespace ranktune::launch
