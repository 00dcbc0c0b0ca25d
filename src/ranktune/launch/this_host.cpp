#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "ranktune/launch/device_plan.h"
#include "ranktune/launch/launcher.h"
#include "ranktune/launch/system_environment.h"

namespace ranktune::launch {
namespace {

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;  // fails beyond 1024 cores
  const std::int64_t cores = known ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN);
  return std::clamp<std::int64_t>(cores, 1, cores_of_container());
}

std::string random_id() {
  std::array<unsigned char, 6> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) return "pid" + std::to_string(::getpid());
  std::string text;
  for (const unsigned char byte : bytes)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

}  // namespace

HostFacts this_host(const Variables& variables) {
  return {host_name(), usable_cores(), random_id(),
          [variables] {
            return static_cast<std::int64_t>(visible_gpus(count_installed_gpus(), variables).visible.size());
          },
          [variables] { return detect_node(variables, file_reader()); }};
}

}  // namespace ranktune::launch
