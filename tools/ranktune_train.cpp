// libexec/ranktune-train: the verbs that need LibTorch. `ranktune` starts it with its own words.
#include <malloc.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/report.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/train/text_classification.h"

namespace {

using ranktune::cli::Console;
using ranktune::cli::ConsoleOptions;
using ranktune::cli::ExitCode;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ConsoleOptions console_options(bool show_progress) {
  ConsoleOptions options{.terminal = ::isatty(STDERR_FILENO) == 1, .show_progress = show_progress};
  winsize size{};
  if (options.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.columns = size.ws_col;
  return options;
}

/// Freed memory stays with the process: every update asks for the same tensors as the one before, and the
/// pages would otherwise go back to the kernel and be fetched and cleared again, a tenth of the time of an
/// update. One arena, since tensors pass between threads.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  ::mallopt(M_TRIM_THRESHOLD, 2047 * kMiB);
  ::mallopt(M_TOP_PAD, 64 * kMiB);
#endif
}

ExitCode train(const std::vector<std::string>& words, const std::string& program) {
  const ranktune::cli::TrainCommand command = ranktune::cli::parse_train(words, variable);
  if (command.help) {
    std::cout << ranktune::cli::train_help();
    return ExitCode::success;
  }
  Console console(std::cerr, console_options(!command.arguments.training.disable_tqdm), steady_seconds);
  for (const std::string& note : command.notes) console.info("note: " + note);
  const ranktune::train::JobReport report =
      ranktune::train::run_text_classification(command.arguments, console, console);
  for (const std::string& block :
       {ranktune::cli::metrics_block("train", report.train_metrics),
        ranktune::cli::metrics_block("eval", report.eval_metrics), ranktune::cli::class_table(report),
        ranktune::cli::next_steps(command.arguments, program)})
    if (!block.empty()) std::cout << '\n' << block;
  return ExitCode::success;
}

ExitCode predict(const std::vector<std::string>& words) {
  const ranktune::cli::PredictCommand command = ranktune::cli::parse_predict(words);
  if (command.help) {
    std::cout << ranktune::cli::predict_help();
    return ExitCode::success;
  }
  // Labels that run over the same terminal would break the progress line.
  const bool labels_on_terminal = !command.arguments.output && ::isatty(STDOUT_FILENO) == 1;
  Console console(std::cerr, console_options(!command.disable_tqdm && !labels_on_terminal), steady_seconds);
  const bool from_terminal =
      !command.arguments.file && command.arguments.texts.empty() && ::isatty(STDIN_FILENO) == 1;
  if (from_terminal) console.info("type texts, one a line; Ctrl-D ends them");
  ranktune::train::run_predict(command.arguments, std::cin, std::cout, console, console);
  return ExitCode::success;
}

ExitCode run(const std::string& verb, const std::vector<std::string>& words, const std::string& program) {
  ExitCode code = ExitCode::success;
  if (verb == "train")
    code = train(words, program);
  else if (verb == "predict")
    code = predict(words);
  else
    throw ranktune::UsageError("unknown verb " + ranktune::cli::in_quotes(verb) +
                               ": this program is started by ranktune");
  if (!std::cout.flush()) throw ranktune::Error("standard output cannot be written");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  keep_freed_memory();
  try {
    const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
    return static_cast<int>(run(verb, words, argc > 0 ? argv[0] : "ranktune"));
  } catch (const std::exception& error) {
    std::cerr << "ranktune " << verb << ": error: " << ranktune::cli::one_line(error) << '\n';
    return static_cast<int>(ranktune::cli::exit_code_of(error));
  }
}
