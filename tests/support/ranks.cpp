#include "support/ranks.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace ranktune::tests {
namespace {

/// A port that stays bound, without listening, so that nobody but a rank's own store gets it.
class HeldPort {
 public:
  HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (socket_ < 0 || ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket_, generic, size) != 0 || ::getsockname(socket_, generic, &size) != 0)
      throw std::runtime_error("no free port");
    port_ = ntohs(address.sin_port);
  }
  ~HeldPort() { ::close(socket_); }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

struct Child {
  pid_t pid = -1;
  int pipe = -1;
};

[[noreturn]] void run_child(int pipe, const std::function<std::string(const launch::LaunchEnv&)>& work,
                            const launch::LaunchEnv& env) {
  int code = 0;
  std::string text;
  try {
    text = work(env);
  } catch (const std::exception& error) {
    text = error.what();
    code = 1;
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(pipe, text.data() + sent, text.size() - sent);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  ::_exit(code);  // no destructors of the test program, which belong to the parent
}

Child start(const std::function<std::string(const launch::LaunchEnv&)>& work, const launch::LaunchEnv& env) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) {
    ::close(ends[0]);
    run_child(ends[1], work, env);
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

using Clock = std::chrono::steady_clock;

/// Reads until the rank closes its pipe, by ending, or the limit is over.
RankResult finish(const Child& child, Clock::time_point limit) {
  RankResult result;
  std::array<char, 4096> buffer{};
  while (true) {
    pollfd waiting{child.pipe, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    // Past the limit, too: a rank may have ended while another one was waited for.
    if (::poll(&waiting, 1, static_cast<int>(std::max<decltype(left)>(left, 0))) == 0) {
      result.timed_out = true;
      ::kill(child.pid, SIGKILL);
      break;
    }
    const ssize_t count = ::read(child.pipe, buffer.data(), buffer.size());
    if (count <= 0) break;
    result.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(child.pipe);
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace

std::vector<RankResult> run_ranks(int world_size,
                                  const std::function<std::string(const launch::LaunchEnv&)>& work,
                                  const RankOptions& options) {
  const HeldPort port;
  std::vector<Child> children;
  for (int rank = 0; rank < world_size; ++rank) {
    launch::LaunchEnv env{.launcher = "test",
                          .rank = rank,
                          .world_size = world_size,
                          .local_rank = rank,
                          .local_world_size = world_size,
                          .master_addr = "127.0.0.1",
                          .master_port = port.port(),
                          .run_id = "test"};
    if (options.adjust) options.adjust(env);
    children.push_back(start(work, env));
  }
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(options.seconds);
  std::vector<RankResult> results;
  for (const Child& child : children) results.push_back(finish(child, limit));
  return results;
}

}  // namespace ranktune::tests
