#include "ranktune/launch/report.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cmath>

#include "ranktune/launch/option_text.h"

namespace ranktune::launch {
namespace {

/// The second in which a worker failed, by its own account when there is one.
double second_of_failure(const WorkerEnd& end) {
  const bool told = end.error && end.error->timestamp > 0;
  return told ? static_cast<double>(end.error->timestamp) : std::floor(end.unix_time);
}

bool follows_another(const WorkerEnd& end) {
  return end.error && end.error->follows_another;
}

bool began_before(const WorkerEnd& end, const WorkerEnd& other) {
  if (follows_another(end) != follows_another(other)) return follows_another(other);
  return second_of_failure(end) < second_of_failure(other);
}

std::string hint(const WorkerFailure& how) {
  switch (how.signal) {
    case SIGKILL:
      return "not by this launcher: the system does so when memory runs out";
    case SIGBUS:
      return "often a full /dev/shm or a file that was cut short";
    default:
      return "";
  }
}

/// "rank 0 by SIGTERM", "rank 2 with exit code 1".
std::string other_end(const WorkerFailure& how) {
  if (how.signal != 0) return fmt::format("rank {} by {}", how.rank, signal_name(how.signal));
  return fmt::format("rank {} with exit code {}", how.rank, how.exit_code);
}

std::string others_line(const WorkerFailure& first, std::span<const WorkerEnd> ends) {
  constexpr std::size_t kMostNamed = 16;
  std::string line;
  std::size_t others = 0;
  for (const WorkerEnd& end : ends) {
    if (end.how.rank == first.rank) continue;
    if (++others <= kMostNamed) line += (line.empty() ? "the others ended: " : ", ") + other_end(end.how);
  }
  return others > kMostNamed ? line + fmt::format(", and {} more", others - kMostNamed) : line;
}

/// A rank of ours writes its message to both places.
bool is_said_in(std::span<const std::string> lines, const std::string& message) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(message) != std::string::npos; });
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string way_of_ending(const WorkerFailure& how) {
  if (how.stopped) return "stopped by " + signal_name(how.signal);
  if (how.signal != 0) return "killed by " + signal_name(how.signal);
  return "exit code " + std::to_string(how.exit_code);
}

const WorkerEnd* first_failure(std::span<const WorkerEnd> ends) {
  const WorkerEnd* first = nullptr;
  for (const WorkerEnd& end : ends)
    if (end.failed() && end.asked == 0 && (first == nullptr || end.unix_time < first->unix_time))
      first = &end;
  if (first == nullptr) return nullptr;
  for (const WorkerEnd& end : ends)
    if (end.failed() && end.error && began_before(end, *first)) first = &end;
  return first;
}

std::vector<std::string> failure_report(const WorkerFailure& first, std::span<const WorkerEnd> ends) {
  std::vector<std::string> lines;
  const std::string why = hint(first);
  lines.push_back(fmt::format(
      "rank {} failed{}: {}{}, {:.1f} s after its start (host {}, local rank {}, pid {})", first.rank,
      ends.size() > 1 ? " first" : "", way_of_ending(first), why.empty() ? "" : " (" + why + ")",
      first.seconds, first.host, first.local_rank, first.pid));
  if (!first.message.empty() && !is_said_in(first.last_lines, first.message))
    for (const std::string& line : split(first.message, '\n'))
      lines.push_back(fmt::format("rank {} says: {}", first.rank, line));
  if (!first.last_lines.empty())
    lines.push_back(fmt::format("the last lines of rank {}'s standard error:", first.rank));
  for (const std::string& line : first.last_lines) lines.push_back("  " + line);
  const std::string others = others_line(first, ends);
  if (!others.empty()) lines.push_back(others);
  return lines;
}

}  // namespace ranktune::launch
