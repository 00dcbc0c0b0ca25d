#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>

#include "ranktune/launch/device_plan.h"
#include "ranktune/launch/launcher.h"
#include "ranktune/launch/system_environment.h"

namespace ranktune::launch {
namespace {

/// Cores' worth of time that a container may use, from its control group.
std::int64_t cores_of_container() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "max 100000", or microseconds of use and of the period
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || !(quota > 0) || !(period > 0))
    return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(1, std::llround(std::floor(quota / period)));
}

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;  // fails beyond 1024 cores
  const std::int64_t cores = known ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN);
  return std::clamp<std::int64_t>(cores, 1, cores_of_container());
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
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
