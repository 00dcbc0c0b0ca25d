#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The file through which a rank tells its launcher why it failed: TORCHELASTIC_ERROR_FILE.
namespace ranktune::launch {

struct ErrorRecord {
  std::string message;                ///< "ValueError: x is negative"
  std::int64_t timestamp = 0;         ///< seconds since 1970; 0: not given
  std::optional<int> exit_code = {};  ///< with which the rank was about to end
  bool follows_another = false;       ///< the rank failed because another one had
};

/// Reads what a Python rank, or error_file_text, wrote. Nothing when `text` is no such file: a rank that was
/// killed while it wrote leaves a part.
std::optional<ErrorRecord> parse_error_file(std::string_view text);

/// The content of an error file that torchrun reads as well.
std::string error_file_text(const ErrorRecord& record);

}  // namespace ranktune::launch
