#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/logger.h"
#include "ranktune/data/table.h"

namespace ranktune::tests {

/// What lists are compared with. EXPECT_EQ on vectors compiles several times faster than gmock's ElementsAre.
using Strings = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

inline Strings strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

/// Keeps what the library says.
class RecordingLogger final : public core::Logger {
 public:
  void info(std::string_view message) override { infos.emplace_back(message); }
  void warning(std::string_view message) override { warnings.emplace_back(message); }
  std::vector<std::string> infos;
  std::vector<std::string> warnings;
};

/// The message of the ranktune::Error that `action` throws; "" and a failed test when it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << "messages are one line";
    return error.what();
  }
  ADD_FAILURE() << "no ranktune::Error was thrown";
  return "";
}

inline std::vector<std::string> column_of(const data::Table& table, std::size_t column) {
  std::vector<std::string> cells;
  for (std::int64_t row = 0; row < table.rows(); ++row) cells.emplace_back(table.cell(row, column).text);
  return cells;
}

inline std::vector<std::string> row_of(const data::Table& table, std::int64_t row) {
  std::vector<std::string> cells;
  for (std::size_t column = 0; column < table.column_names().size(); ++column)
    cells.emplace_back(table.cell(row, column).text);
  return cells;
}

inline std::vector<std::int64_t> lines_of(const data::Table& table) {
  std::vector<std::int64_t> lines;
  for (std::int64_t row = 0; row < table.rows(); ++row) lines.push_back(table.line(row));
  return lines;
}

/// FNV-1a, 64 bits, over the cells of a column, each followed by a line feed. The same in Python:
///     h = 0xcbf29ce484222325
///     for cell in column:
///         for byte in cell.encode() + b"\n": h = ((h ^ byte) * 0x100000001b3) % 2**64
inline std::uint64_t checksum(const data::Table& table, std::string_view column_name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](char letter) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  };
  const std::size_t column = table.find_column(column_name).value();
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (const char letter : table.cell(row, column).text) add(letter);
    add('\n');
  }
  return hash;
}

}  // namespace ranktune::tests
