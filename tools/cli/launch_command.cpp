#include "cli/launch_command.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/launch_flags.h"
#include "cli/parser.h"
#include "ranktune/core/error.h"

namespace ranktune::cli {
namespace {

std::string pet_name(const std::string& flag) {
  std::string name = "PET_" + flag;
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return name;
}

void apply_variables(const FlagTable& table, const launch::Variables& variables,
                     std::vector<std::string>& notes) {
  for (const FlagGroup& group : table.groups()) {
    for (const Flag& flag : group.flags) {
      const std::string name = pet_name(flag.name);
      const std::string value = launch::value_of(variables, name);
      if (!value.empty()) apply({&flag, {value}, name}, notes);
    }
  }
}

}  // namespace

LaunchCommand parse_launch(std::span<const std::string> words, const launch::Variables& variables) {
  LaunchCommand command;
  const FlagTable table = launch_flags(command.options);
  const ParsedWords parsed = parse_words(words, table, Positionals::end_the_flags);
  command.help = parsed.help;
  if (command.help) return command;
  apply_variables(table, variables, command.notes);
  for (const Assignment& assignment : parsed.assignments) apply(assignment, command.notes);
  for (const Positional& positional : parsed.positionals) command.options.command.push_back(positional.word);
  return command;
}

std::string launch_help() {
  launch::LaunchOptions options;
  return "usage: ranktune launch [flags] PROGRAM [ARGUMENTS]\n\n" +
         wrapped(
             "Starts PROGRAM once for each rank, with torchrun's variables (RANK, LOCAL_RANK, WORLD_SIZE, "
             "MASTER_ADDR, ...). Its lines come with their rank in front, whole. When a rank fails, the "
             "others are ended, and the exit code is that of the rank that failed first (128 + the signal "
             "that killed it).",
             0, 0) +
         wrapped(
             "Flags come before PROGRAM; what follows it is its own. A flag may be written with - for _, and "
             "as --flag value or --flag=value. A flag that is not given is taken from the variable PET_ and "
             "its name in capitals. A program whose name ends in .py is started with python3 -u (or the "
             "interpreter that PYTHON_EXEC names).",
             0, 0) +
         flags_help(launch_flags(options));
}

int run_launch(const LaunchCommand& command, const launch::Variables& variables) {
  launch::LaunchOptions options = command.options;
  // The ranks run this ranktune, wherever it lies.
  if (!options.module && !options.command.empty() && options.command.front() == "ranktune")
    options.command.front() = std::filesystem::read_symlink("/proc/self/exe").string();
  launch::LaunchPlan plan = launch::plan_launch(options, variables, launch::this_host(variables));
  plan.notes.insert(plan.notes.begin(), command.notes.begin(), command.notes.end());
  const launch::LaunchOutcome outcome = launch::run_launcher(plan, variables, {});
  if (outcome.exit_code == static_cast<int>(ExitCode::interrupted) && outcome.signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  return outcome.exit_code;
}

Captured launch_captured(const launch::LaunchOptions& options, const launch::Variables& variables) {
  const OutputFile file;
  const launch::LaunchPlan plan = launch::plan_launch(options, variables, launch::this_host(variables));
  Captured captured{launch::run_launcher(plan, variables, {.out = file.descriptor()}).exit_code, {}};
  std::istringstream lines(file.content());
  for (std::string line; std::getline(lines, line);)
    captured.output += line.substr(std::min(line.size(), line.find("]: ") + 3)) + '\n';
  return captured;
}

}  // namespace ranktune::cli
