#pragma once

#include <exception>
#include <string>

namespace ranktune::cli {

/// What the programs return. Interrupted by Ctrl-C they end by the signal itself, which a shell shows as 130.
enum class ExitCode { success = 0, failure = 1, usage = 2, interrupted = 130 };

/// usage for arguments, data and model folders that cannot be used; failure for everything else.
ExitCode exit_code_of(const std::exception& error);

/// The error as one line. LibTorch's errors carry a stack trace after their first line: it is left out.
std::string one_line(const std::exception& error);

}  // namespace ranktune::cli
