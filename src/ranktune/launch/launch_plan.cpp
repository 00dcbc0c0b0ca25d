#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/launcher.h"
#include "ranktune/launch/machines.h"
#include "ranktune/launch/option_text.h"
#include "ranktune/launch/stream_choice.h"

namespace ranktune::launch {
namespace {

constexpr std::int64_t kMostWorkers = 4096;
constexpr double kSignalGrace = 30;
// A rank that lost a peer has nothing to finish, and hangs in a collective more often than not; the whole job
// is to be gone within five seconds.
constexpr double kFailureGrace = 4;

std::int64_t count_workers(const std::string& text, const HostFacts& host) {
  if (text == "cpu") return host.cores;
  if (text == "auto" || text == "gpu") {
    const std::int64_t visible = host.count_gpus();
    if (visible < 1 && text == "auto") return host.cores;
    if (visible < 1)
      throw UsageError(
          "--nproc_per_node gpu: no GPU is visible here; give a number, or cpu for one rank per core");
    return visible;
  }
  const std::optional<std::int64_t> number = whole_number(text);
  if (!number || *number < 1 || *number > kMostWorkers)
    throw UsageError("--nproc_per_node " + text + ": it must be 1 to " + std::to_string(kMostWorkers) +
                     ", or auto, gpu or cpu");
  return *number;
}

std::vector<std::string> worker_command(const LaunchOptions& options, const Variables& variables) {
  if (options.command.empty() || options.command.front().empty())
    throw UsageError("no program to start: ranktune launch [flags] PROGRAM [ARGUMENTS]");
  if (options.module && options.no_python)
    throw UsageError("--module needs the interpreter that --no_python leaves out; give one of them");
  std::vector<std::string> command;
  const bool python = options.module || (options.command.front().ends_with(".py") && !options.no_python);
  if (python) {
    const std::string interpreter = value_of(variables, "PYTHON_EXEC");
    command = {interpreter.empty() ? "python3" : interpreter, "-u"};
  }
  if (options.module) command.push_back("-m");
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

/// The flag, or torchrun's variable for it. Nothing: neither is given.
std::optional<double> shutdown_seconds(const LaunchOptions& options, const Variables& variables) {
  const std::string text = value_of(variables, "TORCH_ELASTIC_SHUTDOWN_TIMEOUT");
  std::optional<double> seconds = options.shutdown_timeout;
  std::string source = "--shutdown_timeout";
  if (!seconds && !text.empty()) {
    source = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT=" + text;
    const std::optional<std::int64_t> whole = whole_number(text);
    if (!whole) throw UsageError(source + ": it must be a whole number of seconds");
    seconds = static_cast<double>(*whole);
  }
  if (seconds && !(*seconds >= 0 && *seconds <= 1e6))
    throw UsageError(source + ": it must be 0 to 1000000 seconds");
  return seconds;
}

std::string job_id(const LaunchOptions& options, std::int64_t nodes, const HostFacts& host) {
  if (!options.rdzv_id.empty()) return options.rdzv_id;
  return nodes == 1 ? host.fresh_id : "none";  // torchrun's word: the machines of a job must say the same
}

}  // namespace

LaunchPlan plan_launch(const LaunchOptions& options, const Variables& variables, const HostFacts& host) {
  LaunchPlan plan;
  plan.command = worker_command(options, variables);
  Machines machines = resolve_machines(options, host);
  std::string workers = options.nproc_per_node;
  if (workers.empty()) workers = machines.processes_per_node.empty() ? "1" : machines.processes_per_node;
  plan.local_world_size = count_workers(workers, host);
  plan.host = host.name;
  plan.nodes = machines.nodes;
  plan.node_rank = machines.node_rank;
  plan.master_addr = std::move(machines.master_addr);
  plan.master_port = machines.master_port;
  plan.notes = std::move(machines.notes);
  plan.run_id = job_id(options, plan.nodes, host);
  plan.role = options.role;
  if (options.max_restarts < 0)
    throw UsageError("--max_restarts " + std::to_string(options.max_restarts) + ": it must be 0 or more");
  plan.max_restarts = options.max_restarts;
  plan.threads_per_worker = std::max<std::int64_t>(1, host.cores / plan.local_world_size);
  plan.log_dir = options.log_dir;
  plan.streams = choose_streams(options, plan.local_world_size);
  const std::optional<double> grace = shutdown_seconds(options, variables);
  plan.signal_grace = grace.value_or(kSignalGrace);
  plan.failure_grace = grace.value_or(kFailureGrace);
  if (!(options.stopped_timeout >= 0 && options.stopped_timeout <= 1e6))
    throw UsageError("--stopped_timeout: it must be 0 to 1000000 seconds");
  plan.stopped_timeout = options.stopped_timeout;
  return plan;
}

}  // namespace ranktune::launch
