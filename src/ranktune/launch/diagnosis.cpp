#include "ranktune/launch/diagnosis.h"

#include <algorithm>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {
namespace {

/// A launcher and a variable that it alone sets.
struct Trace {
  const char* launcher;
  const char* variable;
};
constexpr Trace kTraces[] = {
    {"torchrun", "TORCHELASTIC_RUN_ID"}, {"Open MPI", "OMPI_COMM_WORLD_RANK"}, {"MPICH", "PMI_RANK"},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK"}, {"jsrun", "JSM_NAMESPACE_RANK"},      {"Slurm", "SLURM_PROCID"},
    {"Flux", "FLUX_TASK_RANK"}};

/// Programs that start ranks and would have told them so.
constexpr const char* kStarters[] = {"mpirun",  "mpiexec",         "orted", "prted",      "prterun",
                                     "orterun", "hydra_pmi_proxy", "srun",  "slurmstepd", "torchrun"};

class Physician {
 public:
  Physician(const Variables& all, const Symptoms& symptoms, Diagnosis& diagnosis)
      : variables_(all), symptoms_(symptoms), found_(diagnosis) {}

  void look() {
    look_for_other_launchers();
    look_for_lost_ranks();
    look_at_gpus();
    look_at_interfaces();
    look_at_master();
    look_at_threads();
  }

 private:
  void problem(std::string line) { found_.problems.push_back(std::move(line)); }

  void look_for_other_launchers() {
    if (found_.env.launcher.empty() || found_.env.world_size == 1) return;
    for (const Trace& trace : kTraces) {
      const auto value = variables_.text(trace.variable);
      const auto& evidence = found_.env.evidence;
      const bool ours = found_.env.launcher == "ranktune launch" && trace.launcher == std::string("torchrun");
      const bool used = ours || found_.env.launcher == trace.launcher ||
                        std::any_of(evidence.begin(), evidence.end(),
                                    [&](const Evidence& one) { return one.source == trace.variable; });
      if (value && !used)
        problem(std::string(trace.variable) + "=" + *value + " is there, too: " + found_.env.launcher +
                " was started under " + trace.launcher + " and comes first; when " + trace.launcher +
                " starts one process per rank, too, there are more processes than were meant "
                "(RANKTUNE_LAUNCH chooses)");
    }
  }

  void look_for_lost_ranks() {
    if (found_.env.distributed() || !found_.env.launcher.empty() || variables_.has("PMIX_RANK")) return;
    if (std::find(std::begin(kStarters), std::end(kStarters), symptoms_.parent) != std::end(kStarters)) {
      std::string looked_for;
      for (const Trace& trace : kTraces)
        looked_for += std::string(looked_for.empty() ? "" : ", ") + trace.variable;
      problem("started by " + symptoms_.parent + ", which left no number for this process (looked for " +
              looked_for +
              ", RANK with WORLD_SIZE): it may filter the environment, or speak PMIx only; start "
              "with ranktune launch");
    }
  }

  void look_at_gpus() {
    const VisibleGpus& gpus = symptoms_.gpus;
    if (gpus.installed > 0 && gpus.visible.empty())
      problem(std::to_string(gpus.installed) + " GPUs are installed, but " + gpus.source +
              " shows none of them: unset it, or name GPUs that are there");
    if (!gpus.visible.empty() && !symptoms_.libtorch_has_cuda)
      problem(std::to_string(gpus.visible.size()) +
              " GPUs are visible, but ranktune was built with a LibTorch for CPUs: build with a CUDA one "
              "(Torch_DIR)");
    if (gpus.visible.size() > 1 && variables_.has("CUDA_VISIBLE_DEVICES") &&
        !variables_.has("CUDA_DEVICE_ORDER"))
      problem(
          "CUDA numbers GPUs by speed, nvidia-smi by slot: set CUDA_DEVICE_ORDER=PCI_BUS_ID for "
          "CUDA_VISIBLE_DEVICES to mean what nvidia-smi shows");
  }

  void look_at_interfaces() {
    for (const char* name : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
      const auto wanted = variables_.text(name);
      if (!wanted || std::string("=^").find(wanted->front()) != std::string::npos) continue;
      std::string list;
      bool known = false;
      for (const NetworkInterface& one : symptoms_.interfaces) {
        list += (list.empty() ? "" : ", ") + one.name;
        // NCCL takes beginnings of names, and several of them.
        known = known || one.name == *wanted ||
                (name[0] == 'N' && one.name.starts_with(wanted->substr(0, wanted->find(','))));
      }
      if (!known) problem(std::string(name) + "=" + *wanted + ": this machine has " + list);
    }
  }

  void look_at_master() {
    const LaunchEnv& env = found_.env;
    if (const auto raw = variables_.raw("MASTER_ADDR"); raw && *raw != *variables_.text("MASTER_ADDR"))
      problem("MASTER_ADDR has blanks around the address; they are ignored here, other programs may fail");
    if (!env.distributed()) return;
    if (env.nodes > 1 && is_loopback_address(env.master_addr))
      problem("ranks on " + std::to_string(env.nodes) + " machines, but the master address " +
              env.master_addr + " is each machine's own: give MASTER_ADDR as the others reach it");
    else if (env.nodes > 1 && symptoms_.address_towards_master.empty())
      problem("no way to the master address " + env.master_addr +
              ": is the name known on this machine, and is it the one of rank 0?");
    if (!symptoms_.master_port_owner.empty())
      problem("port " + std::to_string(env.master_port) + ", which rank 0 is to open, is taken by " +
              symptoms_.master_port_owner + ": end it, or give MASTER_PORT another number");
  }

  void look_at_threads() {
    const LaunchEnv& env = found_.env;
    const std::int64_t ranks = env.distributed() && !env.own_cores ? env.local_world_size : 1;
    const auto given = variables_.text("OMP_NUM_THREADS");
    const std::int64_t share = std::max<std::int64_t>(1, symptoms_.cores / ranks);
    if (!given) {
      found_.threads = std::to_string(share) + " for each rank: " + std::to_string(symptoms_.cores) +
                       (symptoms_.cores == 1 ? " core" : " cores") +
                       (env.own_cores ? " of its own, as " + env.launcher + " bound it" : "") +
                       ", OMP_NUM_THREADS is not set";
    } else {
      found_.threads = *given + ", from OMP_NUM_THREADS; " + std::to_string(symptoms_.cores) + " cores";
      const std::string kept = *given;
      const bool number = kept.find_first_not_of("0123456789") == std::string::npos && kept.size() < 6;
      const std::int64_t threads = number ? std::stoll(kept) : 0;
      if (threads > share)
        problem("OMP_NUM_THREADS=" + kept + " x " + std::to_string(ranks) +
                " ranks on this machine are more than " + std::to_string(symptoms_.cores) +
                " cores: threads will wait for each other; set " + std::to_string(share));
      if (threads == 1 && share > 1)
        problem("OMP_NUM_THREADS=1, but there are " + std::to_string(share) +
                " cores for each rank: computing on the CPU will be slow; set " + std::to_string(share));
    }
    if (ranks > symptoms_.cores)
      problem(std::to_string(ranks) + " ranks on " + std::to_string(symptoms_.cores) +
              " cores: on the CPU they take turns, and training gets slower with each");
  }

  VariableReader variables_;
  const Symptoms& symptoms_;
  Diagnosis& found_;
};

std::string network_of(const LaunchEnv& env, const Variables& all, const Symptoms& symptoms) {
  const VariableReader variables(all);
  if (const auto name = variables.text("GLOO_SOCKET_IFNAME")) return *name + ", from GLOO_SOCKET_IFNAME";
  if (!env.distributed()) return "none: one process";
  if (env.nodes == 1) return "127.0.0.1: all ranks are on this machine";
  for (const NetworkInterface& one : symptoms.interfaces)
    for (const std::string& address : one.addresses)
      if (address == symptoms.address_towards_master)
        return one.name + " (" + address + "): the way to " + env.master_addr;
  return "unknown: no way to " + env.master_addr;
}

void look_for_platform(const Variables& variables, const FileReader& files, Diagnosis& diagnosis) {
  if (diagnosis.env.distributed()) return;
  const NodeEnv node = detect_node(variables, files);
  if (node.platform.empty() || node.nodes.value_or(1) < 2) return;
  const std::string nodes = std::to_string(*node.nodes);
  const std::string which = node.node_rank ? "machine " + std::to_string(*node.node_rank) + " of " + nodes
                                           : "one of " + nodes + " machines";
  diagnosis.problems.push_back(node.platform + " says that this is " + which +
                               ", but nothing started ranks: type ranktune launch --nnodes auto "
                               "--nproc_per_node auto ranktune train ... on each");
}

}  // namespace

Diagnosis diagnose(const std::vector<std::string>& arguments, const Variables& variables,
                   const FileReader& files, const DeviceRequest& request, const Symptoms& symptoms) {
  Diagnosis diagnosis;
  try {
    diagnosis.env = detect(arguments, variables, files).env;
    diagnosis.plan =
        plan_device(diagnosis.env, usable_gpus(symptoms.gpus, symptoms.libtorch_has_cuda), request);
  } catch (const UsageError& error) {
    diagnosis.problems.emplace_back(error.what());
    if (diagnosis.plan.why.empty()) diagnosis.plan.why = "not decided, see the problem";
  }
  for (const std::string& note : diagnosis.env.notes) diagnosis.problems.push_back(note);
  try {
    look_for_platform(variables, files, diagnosis);
    Physician(variables, symptoms, diagnosis).look();
  } catch (const UsageError& error) {
    diagnosis.problems.emplace_back(error.what());
  }
  diagnosis.network = network_of(diagnosis.env, variables, symptoms);
  return diagnosis;
}

std::vector<Meaning> explain(const LaunchEnv& env) {
  const std::string world = std::to_string(env.world_size), local = std::to_string(env.local_rank);
  const std::string here = std::to_string(env.local_world_size), nodes = std::to_string(env.nodes);
  if (!env.distributed())
    return {{"rank", "0", "the only process: it trains and writes the files"},
            {"local rank", "-1", "not distributed: this process is alone and takes the devices it sees"},
            {"world size", "1", "nothing is shared with other processes"},
            {"node", "0 of 1", "other machines play no part"}};
  return {
      {"rank", std::to_string(env.rank),
       env.is_main() ? "the main process of the whole job: it alone writes files"
                     : "one of " + world + " processes of the job; rank 0 writes the files"},
      {"local rank", local,
       "process " + local + " of the " + here + " on this machine, counted from 0: it says which GPU is its"},
      {"world size", world, "so many processes share every batch"},
      {"node", std::to_string(env.node_rank) + " of " + nodes,
       env.nodes == 1 ? "all processes are on this machine" : "machines are counted from 0"}};
}

}  // namespace ranktune::launch
