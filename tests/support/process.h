#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ranktune::tests {

struct ProcessOptions {
  std::string input = {};                     ///< standard input, up to 64 KiB
  std::vector<std::string> environment = {};  ///< NAME=value, added to this process's own
  double limit_seconds = 60;                  ///< then the process and what it started are killed
};

struct ProcessResult {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  std::string out;
  std::string err;
};

namespace process_detail {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Added entries come first: getenv takes the first that it finds.
inline std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

/// Starts the program in a process group of its own, with its standard streams on the pipes.
inline pid_t spawn(const std::filesystem::path& program, std::vector<std::string> words,
                   std::vector<std::string> environment, const Pipe& in, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int code = ::posix_spawn(&child, program.c_str(), &actions, &attributes, pointers(words).data(),
                                 pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::runtime_error(program.string() + ": " + std::strerror(code));
  return child;
}

/// Appends what can be read now. False at the end of the stream.
inline bool read_some(int end, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(end, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace process_detail

/// Runs a program to its end and returns what it wrote. THROWS: std::runtime_error when it cannot be started.
inline ProcessResult run_process(const std::filesystem::path& program,
                                 const std::vector<std::string>& arguments,
                                 const ProcessOptions& options = {}) {
  namespace detail = process_detail;
  using Clock = std::chrono::steady_clock;
  detail::Pipe in, out, err;
  // The pipe takes 64 KiB before anybody reads, so there is no need to feed and read at the same time.
  if (::write(in.write_end, options.input.data(), options.input.size()) !=
      static_cast<ssize_t>(options.input.size()))
    throw std::runtime_error("the input does not fit into a pipe");
  detail::Pipe::close_end(in.write_end);

  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const pid_t child =
      detail::spawn(program, words, detail::merged_environment(options.environment), in, out, err);
  detail::Pipe::close_end(out.write_end);
  detail::Pipe::close_end(err.write_end);

  ProcessResult result;
  std::array<pollfd, 2> ends = {pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
  int status = 0;
  bool ended = false;
  while (!ended || ends[0].fd >= 0 || ends[1].fd >= 0) {
    const bool streams_closed = ends[0].fd < 0 && ends[1].fd < 0;
    ::poll(ends.data(), ends.size(), streams_closed ? 1 : 20);
    if (ends[0].revents != 0 && !detail::read_some(out.read_end, result.out)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !detail::read_some(err.read_end, result.err)) ends[1].fd = -1;
    ended = ended || ::waitpid(child, &status, WNOHANG) == child;
    if (!result.timed_out && seconds() > options.limit_seconds) {
      result.timed_out = true;
      ::kill(-child, SIGKILL);
    }
    // Something that left the process group may hold the streams for ever.
    if (ended && result.timed_out && seconds() > options.limit_seconds + 5) break;
  }
  result.seconds = seconds();
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace ranktune::tests
