#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "ranktune/core/logger.h"
#include "ranktune/train/text_classification.h"

namespace ranktune::cli {

struct ConsoleOptions {
  bool terminal = false;      ///< the stream is a terminal: the progress line is rewritten in place
  bool show_progress = true;  ///< false: messages only
  std::size_t columns = 80;   ///< width of the terminal; the line is cut there
};

/// Messages and progress on one stream (standard error), so that neither breaks the other.
/// On a terminal the progress line is redrawn ten times a second at most. Elsewhere it becomes plain lines:
/// the next one after 10 seconds at least, once a tenth of the phase or a minute has gone by. A phase shorter
/// than a second leaves no line.
class Console final : public core::Logger, public train::Observer {
 public:
  using Clock = std::function<double()>;  ///< seconds, never backwards

  Console(std::ostream& out, ConsoleOptions options, Clock clock);

  void info(std::string_view message) override;
  void warning(std::string_view message) override;
  void progress(const train::Progress& progress) override;
  void phase_finished(train::Progress::Phase phase) override;

 private:
  /// A phase between its first look and its end. Evaluation during training runs inside the phase of
  /// training.
  struct PhaseState {
    bool active = false;
    double started = 0;
    double shown_at = 0;     ///< when the last line was written, and
    double shown_share = 0;  ///< how far the phase was then
    train::Progress last;
  };

  PhaseState& state_of(train::Progress::Phase phase) { return phases_.at(static_cast<std::size_t>(phase)); }
  bool due(const PhaseState& phase, double now, double share) const;
  void print(std::string_view line);
  void draw(const std::string& line);
  void clear();

  std::ostream& out_;
  ConsoleOptions options_;
  Clock clock_;
  std::array<PhaseState, 4> phases_;
  std::string drawn_;  ///< the progress line that stands on the terminal without a line break; empty: none
};

/// "train 120/345 steps  35%  loss 0.4312  lr 3.2e-05  412 rows/s  0:31 left".
std::string progress_line(const train::Progress& progress);

/// 0:31, 12:05, 3:07:09.
std::string clock_time(double seconds);

}  // namespace ranktune::cli
