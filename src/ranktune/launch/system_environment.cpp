#include "ranktune/launch/system_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

namespace ranktune::launch {

Variables environment_variables() {
  Variables variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

FileReader file_reader() {
  return [](const std::filesystem::path& path) -> std::optional<std::string> {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  };
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

std::int64_t cores_of_container() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "max 100000", or microseconds of use and of the period
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || !(quota > 0) || !(period > 0))
    return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(1, std::llround(std::floor(quota / period)));
}

Detection detect_process(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return detect(words, environment_variables(), file_reader());
}

}  // namespace ranktune::launch
