#include "ranktune/launch/worker_group.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ranktune/launch/system_environment.h"
#include "ranktune/launch/worker_process.h"

namespace ranktune::launch {
namespace {

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// "${local_rank}" in an argument stands for the number, as under torchrun.
std::string with_local_rank(std::string word, std::int64_t local_rank) {
  constexpr std::string_view kPlaceholder = "${local_rank}";
  for (std::size_t at = word.find(kPlaceholder); at != std::string::npos; at = word.find(kPlaceholder, at))
    word.replace(at, kPlaceholder.size(), std::to_string(local_rank));
  return word;
}

std::optional<ErrorRecord> read_error_file(const std::filesystem::path& path) {
  const std::optional<std::string> text = file_reader()(path);
  return text ? std::optional(parse_error_file(*text)) : std::nullopt;
}

}  // namespace

WorkerGroup::WorkerGroup(const LauncherParts& parts, std::int64_t attempt) : parts_(parts) {
  workers_.reserve(static_cast<std::size_t>(parts.plan.local_world_size));
  try {
    for (std::int64_t i = 0; i < parts.plan.local_world_size; ++i) start(i, attempt);
  } catch (const std::exception&) {
    ask_to_end(SIGKILL);  // the destructor does not run
    for (const Worker& worker : workers_) ::waitpid(worker.pid, nullptr, 0);
    throw;
  }
}

WorkerGroup::~WorkerGroup() {
  ask_to_end(SIGKILL);
  for (const Worker& worker : workers_)
    if (!worker.ended) ::waitpid(worker.pid, nullptr, 0);
}

void WorkerGroup::start(std::int64_t local_rank, std::int64_t attempt) {
  const LaunchPlan& plan = parts_.plan;
  const WorkerStreams& streams = plan.streams.at(static_cast<std::size_t>(local_rank));
  const std::filesystem::path folder = parts_.logs.worker_folder(attempt, local_rank);
  const std::filesystem::path error_file = folder / "error.json";
  const WorkerStart start = {local_rank, attempt, parts_.master_port, parts_.port_is_held,
                             error_file.string()};
  WorkerCommand command = {{}, worker_environment(plan, start, parts_.variables), local_rank == 0};
  for (const std::string& word : plan.command) command.words.push_back(with_local_rank(word, local_rank));
  WorkerProcess process = start_worker(command, parts_.signals, parts_.watchdog);

  const std::string prefix = "[" + std::to_string(plan.rank(local_rank)) + "]: ";
  const auto file = [&](bool wanted, const char* name) {
    return wanted ? folder / name : std::filesystem::path();
  };
  workers_.push_back({local_rank, process.pid, Clock::now(), error_file,
                      WorkerStream(std::move(process.out), {Stream::out, prefix, streams.out_to_console,
                                                            file(streams.out_to_file, "stdout.log")}),
                      WorkerStream(std::move(process.err), {Stream::err, prefix, streams.err_to_console,
                                                            file(streams.err_to_file, "stderr.log")})});
  WorkerFailure& how = workers_.back().end.how;
  how.rank = plan.rank(local_rank);
  how.local_rank = local_rank;
  how.pid = process.pid;
  how.host = plan.host;
}

void WorkerGroup::reap(const std::function<void(Worker&, Change)>& changed) {
  int status = 0;
  pid_t pid = 0;
  // Also orphans of the workers: they are adopted by this process, and must not stay as zombies of their
  // group.
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    const auto worker = std::find_if(workers_.begin(), workers_.end(),
                                     [&](const Worker& one) { return one.pid == pid && !one.ended; });
    if (worker != workers_.end()) note_status(*worker, status, changed);
    if (pid == parts_.watchdog.pid() && (WIFEXITED(status) || WIFSIGNALED(status)))
      parts_.console.say(
          "the watchdog process was killed: what the ranks started may outlive a killed launcher");
  }
  look_for_groups();
}

void WorkerGroup::note_status(Worker& worker, int status,
                              const std::function<void(Worker&, Change)>& changed) {
  WorkerFailure& how = worker.end.how;
  if (WIFCONTINUED(status)) {
    worker.stopped.reset();
    changed(worker, Change::went_on);
    return;
  }
  how.seconds = seconds_between(worker.started, Clock::now());
  worker.end.unix_time = unix_seconds();
  if (WIFSTOPPED(status)) {
    worker.stopped = Clock::now();
    how.signal = WSTOPSIG(status);
    changed(worker, Change::stopped);
    return;
  }
  worker.ended = true;
  if (!how.stopped) {  // else it has failed by having been stopped, whatever became of it
    how.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    how.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }
  changed(worker, Change::ended);
}

void WorkerGroup::look_for_groups() {
  for (Worker& worker : workers_) {
    if (!worker.ended || worker.group_gone || group_exists(worker.pid)) continue;
    worker.group_gone = true;
    parts_.watchdog.forget(worker.pid);
  }
}

std::int64_t WorkerGroup::alive() const {
  return std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return !worker.ended; });
}

bool WorkerGroup::all_gone() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.group_gone; });
}

void WorkerGroup::ask_to_end(int signal) {
  for (Worker& worker : workers_) {
    if (worker.group_gone) continue;
    if (!worker.ended) worker.end.asked = signal;
    signal_group(worker.pid, signal);
    signal_group(worker.pid, SIGCONT);  // stopped, it would never hear of it
  }
}

void WorkerGroup::pass_on(int signal) {
  for (const Worker& worker : workers_)
    if (!worker.ended) ::kill(worker.pid, signal);
}

void WorkerGroup::give_up() {
  for (Worker& worker : workers_) {
    if (worker.group_gone) continue;
    worker.group_gone = worker.ended = true;
    parts_.console.say("process group " + std::to_string(worker.pid) + " does not end, not even by SIGKILL");
  }
}

void WorkerGroup::finish_streams() {
  for (Worker& worker : workers_) {
    worker.out.close(parts_.console);
    worker.err.close(parts_.console);
    worker.end.how.last_lines = worker.err.last_lines();
    worker.end.error = read_error_file(worker.error_file);
    if (!worker.end.error) continue;
    WorkerFailure& how = worker.end.how;
    how.message = worker.end.error->message;
    // It was leaving with its error when it was asked to end.
    if (worker.end.error->exit_code && how.signal != 0 && how.signal == worker.end.asked) {
      how.signal = 0;
      how.exit_code = *worker.end.error->exit_code;
    }
  }
}

std::vector<WorkerEnd> WorkerGroup::ends() const {
  std::vector<WorkerEnd> all;
  for (const Worker& worker : workers_) all.push_back(worker.end);
  return all;
}

}  // namespace ranktune::launch
