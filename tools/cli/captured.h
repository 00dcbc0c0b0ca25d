#pragma once

#include <string>
#include <vector>

namespace ranktune::cli {

/// A program that has run to its end.
struct Captured {
  int exit_code = 0;   ///< 128 + the signal for one that was killed
  std::string output;  ///< its standard output
};

/// Starts `words` and waits; standard error stays this process's. THROWS: Error when it cannot be started.
Captured run_captured(const std::vector<std::string>& words);

/// Everything in an open file, from its beginning.
std::string content_of(int descriptor);

}  // namespace ranktune::cli
