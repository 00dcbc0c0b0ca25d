// The front program. It is not linked with LibTorch, so that --help and wrong arguments are answered in
// milliseconds; a command that can be meant is handed to libexec/ranktune-train.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/programs.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/suggest.h"
#include "ranktune/version.h"

namespace {

using ranktune::UsageError;
using ranktune::cli::ExitCode;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// What to print when the command only asks for help; otherwise the arguments have been found good.
std::string check_arguments(const std::string& verb, const std::vector<std::string>& words) {
  if (verb == "train")
    return ranktune::cli::parse_train(words, variable).help ? ranktune::cli::train_help() : "";
  if (verb == "predict") return ranktune::cli::parse_predict(words).help ? ranktune::cli::predict_help() : "";
  const std::string nearest = ranktune::core::nearest_word(verb, ranktune::cli::verbs());
  throw UsageError(
      "unknown verb " + ranktune::cli::in_quotes(verb) +
      (nearest.empty() ? "; ranktune --help lists the verbs" : "; did you mean " + nearest + "?"));
}

/// Replaces this process. argv goes on as it is: its first word tells how the user called ranktune.
[[noreturn]] void become_train_program(char** argv) {
  // glibc reads it before main: memory in pages of 2 MiB, which matrix products like better.
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*overwrite=*/0);
  const auto program = ranktune::cli::find_train_program(std::filesystem::read_symlink("/proc/self/exe"));
  ::execv(program.c_str(), argv);
  throw ranktune::Error(program.string() + " cannot be started: " + std::strerror(errno));
}

ExitCode run(const std::string& verb, const std::vector<std::string>& words, char** argv) {
  std::string text;
  if (verb.empty() || verb == "--help" || verb == "-h" || verb == "help")
    text = ranktune::cli::general_help();
  else if (verb == "--version")
    text = "ranktune " RANKTUNE_VERSION "\n";
  else
    text = check_arguments(verb, words);
  if (text.empty()) become_train_program(argv);
  if (!(std::cout << text).flush()) throw ranktune::Error("standard output cannot be written");
  return ExitCode::success;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  try {
    const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
    return static_cast<int>(run(verb, words, argv));
  } catch (const std::exception& error) {
    const bool known = verb == "train" || verb == "predict";
    std::cerr << "ranktune" << (known ? " " + verb : "") << ": error: " << ranktune::cli::one_line(error)
              << '\n';
    return static_cast<int>(ranktune::cli::exit_code_of(error));
  }
}
