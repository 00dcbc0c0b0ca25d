#include "ranktune/launch/console_queue.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ranktune::launch {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr int kPiecesAtOnce = 64;  // then the workers have their turn

bool writable(int descriptor) {
  pollfd end = {descriptor, POLLOUT, 0};
  return ::poll(&end, 1, 0) == 1;
}

}  // namespace

void ConsoleQueue::add(Stream stream, std::string_view prefix, std::string_view line) {
  if (chunks_.empty() || chunks_.back().stream != stream || chunks_.back().text.size() > kChunk)
    chunks_.push_back({stream, {}, 0});
  std::string& text = chunks_.back().text;
  text.append(prefix).append(line).push_back('\n');
  waiting_ += prefix.size() + line.size() + 1;
}

void ConsoleQueue::write_some() {
  for (int i = 0; i < kPiecesAtOnce && !empty() && writable(descriptor()); ++i)
    if (!write_piece()) return;
}

void ConsoleQueue::drop() {
  chunks_.clear();
  waiting_ = 0;
}

bool ConsoleQueue::write_piece() {
  Chunk& chunk = chunks_.front();
  const std::string_view rest = std::string_view(chunk.text).substr(chunk.written);
  std::string_view piece = rest.substr(0, PIPE_BUF);
  const std::size_t line_end = piece.rfind('\n');
  if (line_end != std::string_view::npos) piece = piece.substr(0, line_end + 1);
  const ssize_t count = ::write(descriptor(), piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  // Whatever else went wrong (the reader has left, the disk is full): the ranks' work is worth more than its
  // output.
  const std::size_t done = count < 0 ? rest.size() : static_cast<std::size_t>(count);
  chunk.written += done;
  waiting_ -= done;
  if (chunk.written == chunk.text.size()) chunks_.pop_front();
  return true;
}

}  // namespace ranktune::launch
