#include "cli/captured.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ranktune/core/error.h"

namespace ranktune::cli {

OutputFile::OutputFile() : descriptor_(::memfd_create("output", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(std::string("no room for a program's output: ") + std::strerror(errno));
}

OutputFile::~OutputFile() {
  ::close(descriptor_);
}

std::string OutputFile::content() const {
  std::string content;
  std::array<char, 4096> block{};
  ::lseek(descriptor_, 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(descriptor_, block.data(), block.size())) > 0;)
    content.append(block.data(), static_cast<std::size_t>(count));
  return content;
}

Captured run_captured(const std::vector<std::string>& words) {
  const OutputFile file;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, file.descriptor(), STDOUT_FILENO);
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw Error(words.front() + " cannot be started: " + std::strerror(code));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), file.content()};
}

}  // namespace ranktune::cli
