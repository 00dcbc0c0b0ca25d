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

/// A file in memory for what programs print.
class OutputFile {
 public:
  OutputFile();  ///< THROWS: Error when the system gives none.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// All of it, from its beginning.
  std::string content() const;

 private:
  int descriptor_;
};

}  // namespace ranktune::cli
