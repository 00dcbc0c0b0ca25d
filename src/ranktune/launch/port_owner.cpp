#include "ranktune/launch/port_owner.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace ranktune::launch {
namespace {

namespace fs = std::filesystem;

/// The socket numbers that the kernel's table lists for a local port.
void add_sockets(const char* table, std::int64_t port, std::set<std::string>& links) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string slot, local, skipped, inode;
    fields >> slot >> local;
    for (int i = 0; i < 7; ++i) fields >> skipped;
    fields >> inode;
    const std::size_t colon = local.rfind(':');
    if (!fields || colon == std::string::npos || inode == "0") continue;
    if (std::stoll(local.substr(colon + 1), nullptr, 16) == port) links.insert("socket:[" + inode + "]");
  }
}

bool has_one_of(const fs::path& process, const std::set<std::string>& links) {
  std::error_code ignored;
  for (fs::directory_iterator file(process / "fd", ignored), end; file != end; file.increment(ignored)) {
    const fs::path target = fs::read_symlink(file->path(), ignored);
    if (links.contains(target.string())) return true;
  }
  return false;
}

}  // namespace

std::string port_owner(std::int64_t port) {
  std::set<std::string> links;
  add_sockets("/proc/net/tcp", port, links);
  add_sockets("/proc/net/tcp6", port, links);
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; entry != end; entry.increment(ignored)) {
    const std::string pid = entry->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos || !has_one_of(entry->path(), links))
      continue;
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    return "pid " + pid + " (" + name + ")";
  }
  return "another process";
}

}  // namespace ranktune::launch
