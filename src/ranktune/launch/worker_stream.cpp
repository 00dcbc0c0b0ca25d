#include "ranktune/launch/worker_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

constexpr std::size_t kLastLines = 20;  // for the report of a failure
constexpr std::size_t kLongestLastLine = 1000;

}  // namespace

WorkerStream::WorkerStream(Descriptor pipe, StreamTargets targets)
    : pipe_(std::move(pipe)), targets_(std::move(targets)) {
  if (targets_.file.empty()) return;
  file_ = Descriptor(::open(targets_.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_.open()) throw Error(targets_.file.string() + ": cannot be made: " + system_reason(errno));
}

void WorkerStream::read_some(ConsoleQueue& console) {
  if (open()) read_once(console);
}

void WorkerStream::close(ConsoleQueue& console) {
  while (open() && read_once(console)) continue;
  if (open()) end(console);
}

void WorkerStream::show_progress(ConsoleQueue& console) {
  const std::string state = lines_.new_progress();
  if (!state.empty() && targets_.to_console) console.add(targets_.stream, targets_.prefix, state);
}

/// False when nothing is there now, or ever again.
bool WorkerStream::read_once(ConsoleQueue& console) {
  std::array<char, std::size_t{1} << 16> buffer;
  const ssize_t count = ::read(pipe_.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) {
    end(console);
    return false;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
  write_file(bytes, console);
  lines_.add(bytes, emit_to(console));
  return true;
}

void WorkerStream::write_file(std::string_view bytes, ConsoleQueue& console) {
  while (file_.open() && !bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      console.say(targets_.file.string() + ": cannot be written any more: " + system_reason(errno));
      file_.reset();
    }
  }
}

void WorkerStream::end(ConsoleQueue& console) {
  lines_.finish(emit_to(console));
  pipe_.reset();
  file_.reset();
}

LineSplitter::Emit WorkerStream::emit_to(ConsoleQueue& console) {
  return [this, &console](std::string_view line) {
    if (targets_.to_console) console.add(targets_.stream, targets_.prefix, line);
    if (targets_.stream != Stream::err) return;
    last_lines_.emplace_back(line.substr(0, kLongestLastLine));
    if (last_lines_.size() > kLastLines) last_lines_.pop_front();
  };
}

}  // namespace ranktune::launch
