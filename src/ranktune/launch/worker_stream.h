#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/launch/console_queue.h"
#include "ranktune/launch/descriptor.h"
#include "ranktune/launch/line_splitter.h"

namespace ranktune::launch {

/// Where one stream of one worker goes.
struct StreamTargets {
  Stream stream = Stream::out;
  std::string prefix = {};  ///< before each line on the console
  bool to_console = true;
  std::filesystem::path file = {};  ///< empty: none. Gets the bytes as they are.
};

/// Reads one stream of one worker to its end.
class WorkerStream {
 public:
  /// THROWS: Error when the file cannot be made.
  WorkerStream(Descriptor pipe, StreamTargets targets);

  int descriptor() const noexcept { return pipe_.get(); }
  bool open() const noexcept { return pipe_.open(); }
  /// Reads once, so that a worker that floods cannot keep the others waiting.
  void read_some(ConsoleQueue& console);
  /// Takes what is there and closes: nothing more is awaited from whoever still holds the other end.
  void close(ConsoleQueue& console);
  /// Shows the state of a progress bar when it has changed.
  void show_progress(ConsoleQueue& console);
  bool shows_progress() const noexcept { return lines_.shows_progress(); }

  std::vector<std::string> last_lines() const { return {last_lines_.begin(), last_lines_.end()}; }

 private:
  bool read_once(ConsoleQueue& console);
  void write_file(std::string_view bytes, ConsoleQueue& console);
  void end(ConsoleQueue& console);
  LineSplitter::Emit emit_to(ConsoleQueue& console);

  Descriptor pipe_;
  StreamTargets targets_;
  Descriptor file_;
  LineSplitter lines_;
  std::deque<std::string> last_lines_;
};

}  // namespace ranktune::launch
