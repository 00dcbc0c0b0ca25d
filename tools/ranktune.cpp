// The front program. It is not linked with LibTorch, so that --help and wrong arguments are answered in
// milliseconds; a command that can be meant is handed to libexec/ranktune-train.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/captured.h"
#include "cli/commands.h"
#include "cli/doctor_command.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/launch_command.h"
#include "cli/place.h"
#include "cli/programs.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/suggest.h"
#include "ranktune/launch/device_plan.h"
#include "ranktune/launch/system_environment.h"
#include "ranktune/version.h"

namespace {

namespace cli = ranktune::cli;
using ranktune::UsageError;
using ranktune::cli::ExitCode;

/// Where the program lies that is linked with LibTorch. It and its ranks are to read these variables before
/// main: memory in pages of 2 MiB, which matrix products like better, and no warnings of c10d's beside our
/// own messages.
std::filesystem::path train_program() {
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*overwrite=*/0);
  ::setenv("TORCH_CPP_LOG_LEVEL", "ERROR", /*overwrite=*/0);
  return cli::find_train_program(std::filesystem::read_symlink("/proc/self/exe"));
}

/// Replaces this process. argv goes on as it is: its first word tells how the user called ranktune.
[[noreturn]] void become_train_program(char** argv) {
  const std::filesystem::path program = train_program();
  ::execv(program.c_str(), argv);
  throw ranktune::Error(program.string() + " cannot be started: " + std::strerror(errno));
}

void print(const std::string& text) {
  if (!(std::cout << text).flush()) throw ranktune::Error("standard output cannot be written");
}

int launch(const std::vector<std::string>& words) {
  const ranktune::launch::Variables variables = ranktune::launch::environment_variables();
  const cli::LaunchCommand command = cli::parse_launch(words, variables);
  if (!command.help) return cli::run_launch(command, variables);
  print(cli::launch_help());
  return static_cast<int>(ExitCode::success);
}

/// Checks the words, and starts the ranks where there are to be several.
int train(const std::vector<std::string>& words, char** argv) {
  const ranktune::launch::Variables variables = ranktune::launch::environment_variables();
  const cli::TrainCommand command = cli::parse_train(words, cli::read_sagemaker_job(variables));
  if (command.help) {
    print(cli::train_help());
    return static_cast<int>(ExitCode::success);
  }
  const cli::Place place = cli::find_own_place(command.place, command.arguments.training.use_cpu,
                                               RANKTUNE_LIBTORCH_HAS_CUDA, variables);
  if (place.ranks_to_start.empty()) become_train_program(argv);
  if (!place.plan.why.empty()) std::cerr << "ranktune train: " << place.plan.why << '\n';
  std::vector<std::string> program{train_program().string(), "train"};
  program.insert(program.end(), words.begin(), words.end());
  return cli::run_launch({.options = cli::launch_options(place, std::move(program))}, variables);
}

int predict(const std::vector<std::string>& words, char** argv) {
  if (!cli::parse_predict(words).help) become_train_program(argv);
  print(cli::predict_help());
  return static_cast<int>(ExitCode::success);
}

/// What ranktune-train prints about LibTorch and the group; under a launcher, or with --world, its ranks
/// meet.
cli::Captured ask_libtorch(cli::DoctorCommand command, const ranktune::launch::Diagnosis& diagnosis) {
  const bool alone = !diagnosis.env.distributed() && command.world.value_or(1) == 1;
  if (alone) {
    ::setenv("RANKTUNE_LAUNCH", "none", /*overwrite=*/1);  // a place that was refused is refused there, too
    command.place.device = "cpu";                          // devices of no rank are not to be decided again
  }
  std::vector<std::string> words = cli::libtorch_words(command);
  words.insert(words.begin(), train_program().string());
  if (alone || diagnosis.env.distributed()) return cli::run_captured(words);
  ranktune::launch::LaunchOptions options;
  options.nproc_per_node = std::to_string(*command.world);
  options.no_python = true;
  options.command = words;
  return cli::launch_captured(options, ranktune::launch::environment_variables());
}

int doctor(const std::vector<std::string>& words) {
  const cli::DoctorCommand command = cli::parse_doctor(words);
  if (command.help) {
    print(cli::doctor_help());
    return static_cast<int>(ExitCode::success);
  }
  const auto variables = ranktune::launch::environment_variables();
  std::vector<std::string> typed;
  if (command.place.local_rank) typed.push_back("--local_rank=" + std::to_string(*command.place.local_rank));
  const auto found = ranktune::launch::diagnose_process(
      typed,
      {.use_cpu = command.use_cpu,
       .ddp_backend = command.place.ddp_backend,
       .device = command.place.device,
       .xla_library = ranktune::launch::value_of(variables, ranktune::launch::kXlaLibrary)},
      RANKTUNE_LIBTORCH_HAS_CUDA);
  const cli::Captured libtorch = ask_libtorch(command, found.diagnosis);
  if (!found.diagnosis.env.is_main()) return libtorch.exit_code;  // rank 0 speaks for all
  const auto report = cli::doctor_json(
      found, libtorch.output,
      "it ended with exit code " + std::to_string(libtorch.exit_code) + "; its message is above");
  print(command.json ? report.dump(2) + '\n' : cli::doctor_text(report));
  return libtorch.exit_code;
}

[[noreturn]] void refuse_verb(const std::string& verb) {
  const std::string nearest = ranktune::core::nearest_word(verb, cli::verbs());
  throw UsageError(
      "unknown verb " + cli::in_quotes(verb) +
      (nearest.empty() ? "; ranktune --help lists the verbs" : "; did you mean " + nearest + "?"));
}

int run(const std::string& verb, const std::vector<std::string>& words, char** argv) {
  if (verb == "train") return train(words, argv);
  if (verb == "predict") return predict(words, argv);
  if (verb == "launch") return launch(words);
  if (verb == "doctor") return doctor(words);
  if (verb == "--version")
    print("ranktune " RANKTUNE_VERSION "\n");
  else if (verb.empty() || verb == "--help" || verb == "-h" || verb == "help")
    print(cli::general_help());
  else
    refuse_verb(verb);
  return static_cast<int>(ExitCode::success);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  words = cli::verb_first(std::move(words));
  const std::string verb = words.empty() ? "" : words.front();
  try {
    if (!words.empty()) words.erase(words.begin());
    return run(verb, words, argv);
  } catch (const std::exception& error) {
    const auto verbs = cli::verbs();
    const bool known = std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
    cli::report_failure(known ? "ranktune " + verb : "ranktune", error,
                        ranktune::launch::environment_variables());
    return static_cast<int>(cli::exit_code_of(error));
  }
}
