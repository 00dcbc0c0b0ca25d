#include "cli/exit_code.h"

#include <new>
#include <string_view>

#include "ranktune/core/error.h"

namespace ranktune::cli {
namespace {

/// The first line of `text` that holds something.
std::string_view first_line(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \r\n");
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start);
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

ExitCode exit_code_of(const std::exception& error) {
  const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr ||
                     dynamic_cast<const DataError*>(&error) != nullptr ||
                     dynamic_cast<const CheckpointError*>(&error) != nullptr;
  return usage ? ExitCode::usage : ExitCode::failure;
}

std::string one_line(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "out of memory: give a smaller batch size or --max_seq_length";
  const std::string_view line = first_line(error.what());
  return line.empty() ? "an error without a message" : std::string(line);
}

}  // namespace ranktune::cli
