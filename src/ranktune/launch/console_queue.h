#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "ranktune/launch/launcher.h"

namespace ranktune::launch {

/// Whole lines on their way to the launcher's two streams, in the order in which they came. The launcher must
/// stay able to see signals and ends when a reader is slow, so nothing is written before poll says that it
/// will not block, and then PIPE_BUF bytes at most, ending with a line where one fits: a pipe takes these
/// whole, even when others write to it.
class ConsoleQueue {
 public:
  explicit ConsoleQueue(const LaunchConsole& console) : descriptors_{console.out, console.err} {}

  /// `line` comes after `prefix`; the line break is added.
  void add(Stream stream, std::string_view prefix, std::string_view line);
  /// A line of the launcher itself.
  void say(std::string_view message) { add(Stream::err, "ranktune launch: ", message); }

  bool empty() const noexcept { return chunks_.empty(); }
  /// So much is waiting that the workers should wait, too.
  bool full() const noexcept { return waiting_ > kMostWaiting; }
  /// To be polled for POLLOUT before write_some. REQUIRES: not empty.
  int descriptor() const { return descriptors_.at(static_cast<std::size_t>(chunks_.front().stream)); }
  /// Writes what goes without blocking. A stream that nobody reads any more swallows its lines.
  void write_some();
  /// Forgets what is waiting.
  void drop();

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
  struct Chunk {
    Stream stream = Stream::out;
    std::string text = {};
    std::size_t written = 0;
  };

  bool write_piece();

  std::array<int, 2> descriptors_;
  std::deque<Chunk> chunks_;
  std::size_t waiting_ = 0;
};

}  // namespace ranktune::launch
