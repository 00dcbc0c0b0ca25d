#include "ranktune/launch/supervisor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace ranktune::launch {
namespace {

using Change = WorkerGroup::Change;

constexpr double kKillSeconds = 2;      // SIGKILL takes longer only inside a system call that does not return
constexpr double kProgressSeconds = 1;  // between two states of a progress bar

Clock::time_point after(double seconds, Clock::time_point start = Clock::now()) {
  return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string ranks_have(std::int64_t count) {
  return count == 1 ? "1 rank has" : std::to_string(count) + " ranks have";
}

}  // namespace

AttemptOutcome Supervisor::run() {
  while (!group_.all_gone()) {
    wait_for_events();
    read_streams();  // before the ends are seen: a rank's last words come before what is said of it
    for (const int signal : parts_.signals.take()) handle_signal(signal);
    group_.reap([this](Worker& worker, Change change) { handle_change(worker, change); });
    // Only now: ranks that had failed already when the first was seen were not asked to end.
    if (failed_ && stage_ == Stage::running) begin_ending(SIGTERM, parts_.plan.failure_grace);
    parts_.console.write_some();
    sweep_leftovers();
    look_at_clock();
  }
  group_.finish_streams();
  return report();
}

void Supervisor::wait_for_events() {
  std::vector<pollfd> ends = {{parts_.signals.descriptor(), POLLIN, 0}};
  if (!parts_.console.empty()) ends.push_back({parts_.console.descriptor(), POLLOUT, 0});
  // A console that does not keep up makes the workers wait, as it would without a launcher between.
  if (!parts_.console.full())
    for (const Worker& worker : group_.workers())
      for (const WorkerStream* stream : {&worker.out, &worker.err})
        if (stream->open()) ends.push_back({stream->descriptor(), POLLIN, 0});
  ::poll(ends.data(), ends.size(), timeout_ms());
}

void Supervisor::read_streams() {
  bool progress = false;
  for (Worker& worker : group_.workers()) {
    for (WorkerStream* stream : {&worker.out, &worker.err}) {
      if (!parts_.console.full()) stream->read_some(parts_.console);
      progress = progress || stream->shows_progress();
    }
  }
  if (progress && !progress_due_) progress_due_ = after(kProgressSeconds);
}

void Supervisor::show_progress() {
  progress_due_.reset();
  for (Worker& worker : group_.workers())
    for (WorkerStream* stream : {&worker.out, &worker.err}) stream->show_progress(parts_.console);
}

void Supervisor::handle_signal(int signal) {
  if (signal == SIGCHLD) return;  // reap() follows in any case
  if (signal == SIGUSR1 || signal == SIGUSR2) {
    say(signal_name(signal) + " passed on to the ranks");
    group_.pass_on(signal);
    return;
  }
  if (signal == SIGINT && told_to_end_ != 0) {
    say("SIGINT again: killing what is left");
    begin_killing();
    return;
  }
  if (stage_ == Stage::killing) return;
  const bool first = told_to_end_ == 0;
  told_to_end_ = first ? signal : told_to_end_;
  if (first)
    say(fmt::format("{} passed on; {} {:g} s to end{}", signal_name(signal), ranks_have(group_.alive()),
                    parts_.plan.signal_grace, signal == SIGINT ? ", and a second Ctrl-C kills at once" : ""));
  if (stage_ == Stage::running)
    begin_ending(signal, parts_.plan.signal_grace);
  else
    group_.ask_to_end(signal);  // the deadline stays
}

void Supervisor::handle_change(Worker& worker, Change change) {
  if (change == Change::stopped) return handle_stop(worker);
  if (change == Change::went_on) {
    if (stage_ == Stage::running) say(fmt::format("rank {} goes on", worker.end.how.rank));
    return;
  }
  if (stage_ != Stage::running || !worker.end.failed()) return;
  if (!failed_ && group_.alive() > 0)
    say(fmt::format("rank {} failed ({}); {} {:g} s to end", worker.end.how.rank,
                    way_of_ending(worker.end.how), ranks_have(group_.alive()), parts_.plan.failure_grace));
  failed_ = true;
}

void Supervisor::handle_stop(const Worker& worker) {
  if (stage_ != Stage::running) return;
  say(fmt::format("rank {} (pid {}) was stopped by {}; it counts as failed unless it goes on within {:g} s",
                  worker.end.how.rank, worker.pid, signal_name(worker.end.how.signal),
                  parts_.plan.stopped_timeout));
}

void Supervisor::look_at_clock() {
  const Clock::time_point now = Clock::now();
  if (progress_due_ && now >= *progress_due_) show_progress();
  if (stage_ == Stage::running)
    for (Worker& worker : group_.workers())
      if (!worker.ended && worker.stopped && now >= stop_limit(worker)) fail_stopped(worker);
  if (!deadline_ || now < *deadline_) return;
  if (stage_ == Stage::killing)
    group_.give_up();
  else
    begin_killing();
}

Clock::time_point Supervisor::stop_limit(const Worker& worker) const {
  return after(parts_.plan.stopped_timeout, *worker.stopped);
}

void Supervisor::fail_stopped(Worker& worker) {
  worker.end.how.stopped = true;
  failed_ = true;
  say(fmt::format("rank {} did not go on and counts as failed", worker.end.how.rank));
  begin_ending(SIGTERM, parts_.plan.failure_grace);
  worker.end.asked = 0;  // it had failed before
}

void Supervisor::begin_ending(int signal, double grace) {
  stage_ = Stage::ending;
  deadline_ = after(grace);
  group_.ask_to_end(signal);
}

void Supervisor::begin_killing() {
  stage_ = Stage::killing;
  deadline_ = after(kKillSeconds);
  group_.ask_to_end(SIGKILL);
}

/// Ranks that have ended well may leave processes of theirs behind; nothing outlives the launcher.
void Supervisor::sweep_leftovers() {
  if (stage_ == Stage::running && group_.alive() == 0 && !group_.all_gone())
    begin_ending(SIGTERM, parts_.plan.failure_grace);
}

AttemptOutcome Supervisor::report() {
  const std::vector<WorkerEnd> ends = group_.ends();
  const WorkerEnd* first = failed_ ? first_failure(ends) : nullptr;
  if (first == nullptr) return {std::nullopt, told_to_end_};
  for (const std::string& line : failure_report(first->how, ends)) say(line);
  return {first->how, told_to_end_};
}

int Supervisor::timeout_ms() const {
  std::optional<Clock::time_point> next = deadline_;
  const auto consider = [&](Clock::time_point time) { next = next ? std::min(*next, time) : time; };
  if (progress_due_) consider(*progress_due_);
  if (stage_ == Stage::running)
    for (const Worker& worker : group_.workers())
      if (!worker.ended && worker.stopped) consider(stop_limit(worker));
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace ranktune::launch
