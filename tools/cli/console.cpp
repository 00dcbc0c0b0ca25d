#include "cli/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace ranktune::cli {
namespace {

using train::Progress;

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 10;
constexpr double kPlainShare = 0.1 - 1e-9;  // shares are rounded
constexpr double kLongestSilence = 60;
constexpr double kShortPhase = 1;

const char* phase_name(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::tokenize:
      return "tokenize";
    case Progress::Phase::train:
      return "train";
    case Progress::Phase::evaluate:
      return "evaluate";
    case Progress::Phase::predict:
      return "predict";
  }
  return "";
}

double share_of(const Progress& progress) {
  if (progress.total <= 0) return 0;
  return std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
}

/// The line without its end: what was done, and how fast.
std::string line_so_far(const Progress& progress) {
  const char* unit = progress.phase == Progress::Phase::train ? "steps" : "rows";
  // A percentage is rounded down: 100% means done.
  const int percent = static_cast<int>(share_of(progress) * 100);
  std::string line = fmt::format("{} {}/{} {}  {}%", phase_name(progress.phase), progress.done,
                                 progress.total, unit, percent);
  if (progress.loss) line += fmt::format("  loss {:.4f}", *progress.loss);
  if (progress.learning_rate) line += fmt::format("  lr {:.3g}", *progress.learning_rate);
  if (progress.rows_per_second > 0) line += fmt::format("  {:.0f} rows/s", progress.rows_per_second);
  return line;
}

}  // namespace

std::string clock_time(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  const long long minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
}

std::string progress_line(const Progress& progress) {
  const std::string line = line_so_far(progress);
  return progress.done < progress.total ? line + "  " + clock_time(progress.seconds_left) + " left" : line;
}

Console::Console(std::ostream& out, ConsoleOptions options, Clock clock)
    : out_(out), options_(options), clock_(std::move(clock)) {}

void Console::info(std::string_view message) {
  print(message);
}

void Console::warning(std::string_view message) {
  print("warning: " + std::string(message));
}

void Console::progress(const Progress& progress) {
  if (!options_.show_progress) return;
  const double now = clock_();
  PhaseState& phase = state_of(progress.phase);
  if (!phase.active) {
    // On a terminal the first line comes at once.
    const double shown_at = options_.terminal ? now - 2 * kRedrawSeconds : now;
    phase = {.active = true, .started = now, .shown_at = shown_at, .shown_share = 0, .last = progress};
  }
  phase.last = progress;
  const double share = share_of(progress);
  if (!due(phase, now, share)) return;
  phase.shown_at = now;
  phase.shown_share = share;
  if (options_.terminal)
    draw(progress_line(progress));
  else
    print(progress_line(progress));
}

void Console::phase_finished(Progress::Phase finished) {
  PhaseState& phase = state_of(finished);
  const double lasted = clock_() - phase.started;
  clear();
  if (phase.active && lasted >= kShortPhase) print(line_so_far(phase.last) + "  in " + clock_time(lasted));
  phase.active = false;
}

bool Console::due(const PhaseState& phase, double now, double share) const {
  const double silent = now - phase.shown_at;
  if (options_.terminal) return silent >= kRedrawSeconds;
  return silent >= kLongestSilence || (silent >= kPlainSeconds && share - phase.shown_share >= kPlainShare);
}

void Console::print(std::string_view line) {
  const std::string below = drawn_;
  clear();
  out_ << line << '\n' << std::flush;
  if (!below.empty()) draw(below);
}

void Console::draw(const std::string& line) {
  // Written into the last column, some terminals break the line.
  const std::size_t room = options_.columns > 1 ? options_.columns - 1 : line.size();
  out_ << '\r' << std::string_view(line).substr(0, room) << "\x1b[K" << std::flush;
  drawn_ = line;
}

void Console::clear() {
  if (!drawn_.empty()) out_ << "\r\x1b[K" << std::flush;
  drawn_.clear();
}

}  // namespace ranktune::cli
