#pragma once

#include <charconv>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/files.h"

namespace ranktune::tests {

/// Reads a snapshot of vectors: a head between two lines "---", then a YAML list of lists of numbers, one a
/// line;
/// "- - 0.5" starts a vector and "  - 0.5" continues it.
/// THROWS: std::runtime_error for a line of another form.
inline std::vector<std::vector<float>> read_snap_file(const std::filesystem::path& path) {
  std::istringstream lines(core::read_file(path));
  std::vector<std::vector<float>> vectors;
  std::string line;
  int rules = 0;
  while (rules < 2 && std::getline(lines, line)) rules += line == "---";
  while (std::getline(lines, line)) {
    const std::string_view view = line;
    const bool starts = view.starts_with("- - ");
    const bool continues = view.starts_with("  - ") && !vectors.empty();
    float value = 0;
    const auto parsed = std::from_chars(line.data() + 4, line.data() + line.size(), value);
    if (!(starts || continues) || parsed.ec != std::errc() || parsed.ptr != line.data() + line.size())
      throw std::runtime_error(path.string() + ": unexpected line '" + line + "'");
    if (starts) vectors.emplace_back();
    vectors.back().push_back(value);
  }
  return vectors;
}

}  // namespace ranktune::tests
