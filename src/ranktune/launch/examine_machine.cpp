#include <unistd.h>

#include <fstream>

#include "ranktune/core/error.h"
#include "ranktune/launch/diagnosis.h"
#include "ranktune/launch/launcher.h"
#include "ranktune/launch/port_holder.h"
#include "ranktune/launch/port_owner.h"
#include "ranktune/launch/system_environment.h"

namespace ranktune::launch {
namespace {

std::string name_of_parent() {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(::getppid()) + "/comm"), name);
  return name;
}

/// Who has the port that this process is to open; empty: nobody. Tries it for a moment.
std::string owner_of_port(const LaunchEnv& env) {
  if (!env.distributed() || !env.is_main() || env.agent_store || env.port_is_held) return "";
  try {
    const PortHolder holder(env.master_port);
    return "";
  } catch (const UsageError&) {
    return port_owner(env.master_port);
  }
}

Symptoms examine_machine(const Variables& variables, bool libtorch_has_cuda) {
  const HostFacts host = this_host(variables);
  return {.host = host.name,
          .cores = host.cores,
          .parent = name_of_parent(),
          .gpus = visible_gpus(count_installed_gpus(), variables),
          .interfaces = network_interfaces(),
          .libtorch_has_cuda = libtorch_has_cuda};
}

}  // namespace

ProcessDiagnosis diagnose_process(const std::vector<std::string>& arguments, const DeviceRequest& request,
                                  bool libtorch_has_cuda) {
  const Variables variables = environment_variables();
  Symptoms symptoms = examine_machine(variables, libtorch_has_cuda);
  // Which port and which way to look at depends on the place, which is known only after a first look.
  const LaunchEnv env = diagnose(arguments, variables, file_reader(), request, symptoms).env;
  if (env.distributed() && env.nodes > 1)
    symptoms.address_towards_master = address_towards(env.master_addr, env.master_port);
  symptoms.master_port_owner = owner_of_port(env);
  return {symptoms, diagnose(arguments, variables, file_reader(), request, symptoms)};
}

}  // namespace ranktune::launch
