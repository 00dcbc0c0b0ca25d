// libexec/ranktune-train: the verbs that need LibTorch. `ranktune` starts it with its own words.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/doctor_command.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/memory.h"
#include "cli/place.h"
#include "cli/programs.h"
#include "cli/report.h"
#include "cli/values.h"
#include "doctor.h"
#include "ranktune/core/error.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/launch/system_environment.h"
#include "ranktune/train/text_classification.h"

namespace {

using ranktune::cli::Console;
using ranktune::cli::ConsoleOptions;
using ranktune::cli::ExitCode;

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

namespace launch = ranktune::launch;

/// This process among its ranks. THROWS: as find_place.
ranktune::cli::Place own_place(const ranktune::cli::PlaceArguments& arguments, bool use_cpu,
                               const launch::Variables& variables) {
  return ranktune::cli::find_own_place(arguments, use_cpu, at::globalContext().hasCUDA(), variables);
}

std::unique_ptr<ranktune::dist::ProcessGroup> join_group(const ranktune::cli::Place& place,
                                                         const ranktune::cli::PlaceArguments& arguments,
                                                         const launch::Variables& variables) {
  if (!place.env.distributed()) return nullptr;
  return ranktune::dist::init_process_group(
      place.env, {.backend = place.plan.backend,
                  .timeout = std::chrono::milliseconds(std::llround(1000 * arguments.ddp_timeout)),
                  .interface = launch::value_of(variables, "GLOO_SOCKET_IFNAME")});
}

/// Who the others are: a job that was started on the wrong machines, or twice, shows here.
void introduce_ranks(const ranktune::dist::ProcessGroup& group, ranktune::core::Logger& logger) {
  constexpr std::int64_t kShown = 8;
  const std::string of_all = " of " + std::to_string(group.world_size());
  for (std::int64_t rank = 1; rank < std::min(group.world_size(), kShown); ++rank) {
    const ranktune::dist::Member& member = group.members()[static_cast<std::size_t>(rank)];
    logger.info("rank " + std::to_string(rank) + of_all + ", local rank " +
                std::to_string(member.local_rank) + ": process " + std::to_string(member.pid) + " on " +
                member.host);
  }
  if (const std::int64_t more = group.world_size() - kShown; more > 0)
    logger.info("... and " + std::to_string(more) + " more (ranktune doctor, started likewise, shows all)");
}

void print_report(const ranktune::train::JobReport& report, const ranktune::cli::TrainCommand& command,
                  const std::string& program) {
  for (const std::string& block :
       {ranktune::cli::metrics_block("train", report.train_metrics),
        ranktune::cli::metrics_block("eval", report.eval_metrics), ranktune::cli::class_table(report),
        ranktune::cli::next_steps(command.arguments, program)})
    if (!block.empty()) std::cout << '\n' << block;
}

ExitCode train(const std::vector<std::string>& words, const std::string& program) {
  const launch::Variables variables = launch::environment_variables();
  ranktune::cli::TrainCommand command =
      ranktune::cli::parse_train(words, ranktune::cli::read_sagemaker_job(variables));
  if (command.help) {
    std::cout << ranktune::cli::train_help();
    return ExitCode::success;
  }
  const ranktune::cli::Place place = own_place(command.place, command.arguments.training.use_cpu, variables);
  ranktune::train::TrainingArguments& training = command.arguments.training;
  training.device = place.plan.device;
  training.device_library = place.plan.library;
  for (const std::int64_t gpu : place.plan.replicas)
    training.data_parallel_devices.push_back("cuda:" + std::to_string(gpu));
  if (training.num_threads == 0)
    training.num_threads = ranktune::cli::threads_of_rank(place.env, variables, at::get_num_threads());
  Console console(std::cerr, console_options(!training.disable_tqdm), steady_seconds);
  ranktune::core::NullLogger silent;
  ranktune::train::Observer nobody;
  const bool speaks = place.env.is_main();
  ranktune::core::Logger& logger = speaks ? static_cast<ranktune::core::Logger&>(console) : silent;
  for (const std::string& note : command.notes) logger.info("note: " + note);
  for (const std::string& note : place.env.notes) logger.info("note: " + note);
  if (place.env.distributed() || !place.plan.replicas.empty()) logger.info(place.plan.why);
  const auto group = join_group(place, command.place, variables);
  if (group) introduce_ranks(*group, logger);
  const ranktune::train::JobReport report = ranktune::train::run_text_classification(
      command.arguments, logger, speaks ? static_cast<ranktune::train::Observer&>(console) : nobody,
      group.get());
  if (speaks) print_report(report, command, program);
  return ExitCode::success;
}

/// What the front program cannot know: LibTorch, and the other ranks. Rank 0 prints it as one JSON object.
ExitCode doctor(const std::vector<std::string>& words) {
  const ranktune::cli::DoctorCommand command = ranktune::cli::parse_doctor(words);
  const launch::Variables variables = launch::environment_variables();
  const ranktune::cli::Place place = own_place(command.place, command.use_cpu, variables);
  if (const std::int64_t threads =
          ranktune::cli::threads_of_rank(place.env, variables, at::get_num_threads());
      threads > 0)
    at::set_num_threads(static_cast<int>(threads));
  nlohmann::json report = {{"libtorch", ranktune::describe_libtorch()}};
  if (const auto group = join_group(place, command.place, variables))
    report.update(ranktune::examine_group(*group, place.plan.device));
  if (place.env.is_main()) std::cout << report.dump() << '\n';
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
  else if (verb == "doctor")
    code = doctor(words);
  else
    throw ranktune::UsageError("unknown verb " + ranktune::cli::in_quotes(verb) +
                               ": this program is started by ranktune");
  if (!std::cout.flush()) throw ranktune::Error("standard output cannot be written");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  words = ranktune::cli::verb_first(std::move(words));
  const std::string verb = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  ranktune::cli::keep_freed_memory();
  c10::initLogging();
  try {
    const std::filesystem::path program =
        ranktune::cli::front_program(argc > 0 ? argv[0] : "ranktune", std::filesystem::current_path(),
                                     launch::value_of(launch::environment_variables(), "PATH"));
    return static_cast<int>(run(verb, words, program.string()));
  } catch (const std::exception& error) {
    launch::Variables variables = launch::environment_variables();
    // The doctor who asked has a report to print, and is not to be ended with the job.
    if (verb == "doctor") variables.erase("PMI_FD");
    ranktune::cli::report_failure("ranktune " + verb, error, variables);
    return static_cast<int>(ranktune::cli::exit_code_of(error));
  }
}
