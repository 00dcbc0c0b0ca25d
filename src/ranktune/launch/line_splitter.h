#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ranktune::launch {

/// Turns the pieces that arrive on a pipe into lines. A carriage return starts the line again, as on a
/// terminal, so of a progress bar only what would stand there is kept. A line longer than the limit comes in
/// several parts, none of which splits a UTF-8 sequence.
class LineSplitter {
 public:
  using Emit = std::function<void(std::string_view line)>;  ///< without the line break

  explicit LineSplitter(std::size_t longest = std::size_t{1} << 16) : longest_(longest) {}

  void add(std::string_view bytes, const Emit& emit);
  /// The end of the stream: what came after the last line break is a line, too.
  void finish(const Emit& emit);

  /// The state of a line that is being overwritten (a progress bar), once for each state; "" when there is
  /// none.
  std::string new_progress();
  /// True while the last line is one that has been overwritten.
  bool shows_progress() const noexcept { return overwritten_; }

 private:
  void add_part(std::string_view part, const Emit& emit);
  void end_line(const Emit& emit);

  std::size_t longest_;
  std::string line_;          ///< since the last line break or carriage return
  bool returned_ = false;     ///< a carriage return came last: what comes next replaces line_
  bool overwritten_ = false;  ///< line_ has been started again
  std::string shown_;         ///< the state that new_progress gave last
};

}  // namespace ranktune::launch
