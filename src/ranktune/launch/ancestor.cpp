#include "ranktune/launch/ancestor.h"

#include <optional>

namespace ranktune::launch {
namespace {

/// What /proc/PID/status says in the line that begins with `field`.
std::string value_of(const std::string& status, const std::string& field) {
  const std::size_t start = status.find(field + ":\t");
  if (start == std::string::npos) return "";
  const std::size_t value = start + field.size() + 2;
  return status.substr(value, status.find('\n', value) - value);
}

}  // namespace

std::string pid_of_ancestor(const std::string& name, const FileReader& files) {
  constexpr int kMostGenerations = 32;
  std::string pid = "self";
  for (int i = 0; i < kMostGenerations; ++i) {
    const std::optional<std::string> status = files("/proc/" + pid + "/status");
    if (!status) return "";
    if (pid != "self" && value_of(*status, "Name") == name) return pid;
    pid = value_of(*status, "PPid");
    if (pid.empty() || pid == "0") return "";
  }
  return "";
}

}  // namespace ranktune::launch
