#include "cli/place.h"

#include <algorithm>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/system_environment.h"

namespace ranktune::cli {
namespace {

bool is_local_rank(const std::string& word) {
  return word.starts_with("--local_rank") || word.starts_with("--local-rank");
}

std::string describe(const launch::LaunchEnv& env) {
  return "rank " + std::to_string(env.rank) + " of " + std::to_string(env.world_size) + ", started by " +
         env.launcher;
}

/// A rank that ranktune itself has started sees the flag that made it start: then the numbers agree.
void require_started_so(const std::string& wanted, const launch::LaunchEnv& env) {
  const bool number = wanted.find_first_not_of("0123456789") == std::string::npos;
  if (number && wanted != std::to_string(env.local_world_size))
    throw UsageError("--nproc_per_node " + wanted + ": this process is already " + describe(env) + ", with " +
                     std::to_string(env.local_world_size) + " on this machine: leave the flag out");
}

}  // namespace

std::vector<std::string> verb_first(std::vector<std::string> words) {
  std::size_t verb = 0;
  while (verb < words.size() && is_local_rank(words[verb]))
    verb += words[verb].find('=') == std::string::npos ? 2 : 1;
  if (verb < words.size())
    std::rotate(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(verb),
                words.begin() + static_cast<std::ptrdiff_t>(verb) + 1);
  return words;
}

Place find_place(const PlaceArguments& arguments, bool use_cpu, const launch::Variables& variables,
                 const launch::FileReader& files, const launch::VisibleGpus& gpus) {
  std::vector<std::string> words;
  if (arguments.local_rank) words.push_back("--local_rank=" + std::to_string(*arguments.local_rank));
  Place place{.env = launch::detect(words, variables, files).env, .plan = {}};
  const std::string& wanted = arguments.nproc_per_node;
  if (!wanted.empty()) {
    if (place.env.distributed())
      require_started_so(wanted, place.env);
    else if (wanted != "1") {
      place.ranks_to_start = wanted;
      return place;
    }
  }
  place.plan = launch::plan_device(place.env, gpus,
                                   {.use_cpu = use_cpu,
                                    .parallel = wanted == "1" ? launch::Parallel::none : arguments.parallel,
                                    .ddp_backend = arguments.ddp_backend,
                                    .device = arguments.device,
                                    .xla_library = launch::value_of(variables, launch::kXlaLibrary)});
  if (place.plan.launch_ranks > 0) place.ranks_to_start = std::to_string(place.plan.launch_ranks);
  return place;
}

Place find_own_place(const PlaceArguments& arguments, bool use_cpu, bool libtorch_has_cuda,
                     const launch::Variables& variables) {
  const std::int64_t installed = use_cpu || !libtorch_has_cuda ? 0 : launch::count_installed_gpus();
  return find_place(arguments, use_cpu, variables, launch::file_reader(),
                    launch::usable_gpus(launch::visible_gpus(installed, variables), libtorch_has_cuda));
}

launch::LaunchOptions launch_options(const Place& place, std::vector<std::string> program) {
  launch::LaunchOptions options;
  options.nproc_per_node = place.ranks_to_start;
  options.no_python = true;
  options.command = std::move(program);
  return options;
}

std::int64_t threads_of_rank(const launch::LaunchEnv& env, const launch::Variables& variables,
                             std::int64_t cores) {
  if (!env.distributed() || env.own_cores || variables.contains("OMP_NUM_THREADS")) return 0;
  return std::max<std::int64_t>(1, cores / env.local_world_size);
}

}  // namespace ranktune::cli
