#include "ranktune/launch/system_environment.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

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

Detection detect_process(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return detect(words, environment_variables(), file_reader());
}

}  // namespace ranktune::launch
