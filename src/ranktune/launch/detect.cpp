#include <algorithm>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/ancestor.h"
#include "ranktune/launch/host_list.h"
#include "ranktune/launch/job_hosts.h"
#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/sagemaker.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {
namespace {

/// How a launcher tells a process its place. Empty names: it does not say.
struct Source {
  const char* launcher;
  const char* family;  ///< what RANKTUNE_LAUNCH calls it
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;
};

/// In order of precedence: torchrun may run under mpirun or in a Slurm step, and mpirun in a Slurm step,
/// whose variables the ranks then inherit.
constexpr Source kSources[] = {
    {"torchrun", "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"jsrun", "mpi", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
     "JSM_NAMESPACE_LOCAL_SIZE"},
    {"Open MPI", "mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MVAPICH2", "mpi", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"Cray PALS", "mpi", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
    {"Slurm", "slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""},
    {"Flux", "flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""},
};

bool is_slurm_step(const VariableReader& variables) {
  const auto step = variables.first_of({"SLURM_STEP_ID", "SLURM_STEPID"});
  // The batch shell and salloc's shell have SLURM_PROCID=0 of a job, but are none of its tasks. A step is a
  // small number; the shells' pseudo-steps lie at the top of 32 bits.
  return step && variables.has("SLURM_PROCID") && step->size() < 9 && *step != "batch" &&
         *step != "interactive" && *step != "extern";
}

/// --local_rank in all its spellings, taken out of the words.
std::optional<std::int64_t> take_local_rank(std::vector<std::string>& words) {
  std::optional<std::int64_t> found;
  std::vector<std::string> rest;
  const auto take = [&](const std::string& flag, const std::string& text) {
    const std::int64_t value = text == "-1" ? -1 : to_count(text, flag);
    if (found && *found != value)
      throw UsageError("--local_rank is given twice, as " + std::to_string(*found) + " and " + text +
                       ": leave one of them out");
    found = value;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    if (flag != "--local_rank" && flag != "--local-rank") {
      rest.push_back(word);
    } else if (equals != std::string::npos) {
      take(flag, word.substr(equals + 1));
    } else {
      if (i + 1 == words.size())
        throw UsageError(flag + " needs a number: -1, or that of this process on its machine");
      take(flag, words[++i]);
    }
  }
  words = std::move(rest);
  return found;
}

class Detector {
 public:
  Detector(const Variables& variables, const FileReader& files) : variables_(variables), files_(files) {}

  LaunchEnv run(std::optional<std::int64_t> typed) {
    env_.local_rank_argument = typed;
    choose_source();
    if (env_.launcher.empty()) find_sagemaker();
    obey_argument();
    if (!env_.distributed()) return env_;
    find_hydra();
    find_master();
    env_.run_id = variables_
                      .first_of({"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID",
                                 "LSB_JOBID", "PBS_JOBID", "FLUX_JOB_ID", "TRAINING_JOB_NAME"})
                      .value_or(hydra_);
    env_.restart_count = variables_.number("TORCHELASTIC_RESTART_COUNT").value_or(0);
    env_.agent_store = variables_.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    // Open MPI binds by itself, two ranks to a core each and more to larger parts.
    env_.own_cores = env_.launcher == "Open MPI" && variables_.text("OMPI_MCA_orte_bound_at_launch") == "1";
    env_.port_is_held = variables_.text("RANKTUNE_PORT_HELD") == "1";
    return env_;
  }

 private:
  void note(const std::string& what, std::int64_t value, const std::string& source) {
    env_.evidence.push_back({what, std::to_string(value), source});
  }

  bool wanted(const Source& source) const {
    const std::optional<std::string> choice = variables_.text("RANKTUNE_LAUNCH");
    if (!choice) return source.family != std::string("slurm") || is_slurm_step(variables_);
    for (const char* known : {"none", "torchrun", "mpi", "slurm"})
      if (*choice == known) return *choice == source.family;
    throw UsageError("RANKTUNE_LAUNCH=" + *choice + ": it is none, torchrun, mpi or slurm");
  }

  void choose_source() {
    for (const Source& source : kSources) {
      if (!wanted(source)) continue;
      const auto rank = variables_.number(source.rank), world = variables_.number(source.world_size);
      if (!rank && !world) continue;
      if (!rank && *world == 1) continue;  // harmless: profiles set it
      if (!rank || !world)
        throw UsageError(std::string(rank ? source.rank : source.world_size) + "=" +
                         std::to_string(rank ? *rank : *world) + " is set without " +
                         (rank ? source.world_size : source.rank) + ": " + source.launcher +
                         " sets both; start through it, or unset the variable");
      if (source.launcher == std::string("MPICH") && !variables_.has("MPI_LOCALRANKID") &&
          variables_.has("PMI_LOCAL_RANK"))
        continue;  // Cray's own names for the local numbers
      take(source, *rank, *world);
      return;
    }
    refuse_bare_pmix();
    if (!is_slurm_step(variables_) && variables_.has("SLURM_JOB_ID") &&
        variables_.number("SLURM_NTASKS").value_or(1) > 1)
      env_.notes.push_back(
          "inside a Slurm allocation, but not in a step: one process; srun starts the ranks");
  }

  /// PMIx tells a process its rank in a variable, and how many there are to its library alone.
  void refuse_bare_pmix() const {
    const auto rank = variables_.text("PMIX_RANK");
    if (!rank || variables_.text("RANKTUNE_LAUNCH") == "none") return;
    throw UsageError("PMIX_RANK=" + *rank +
                     ": a PMIx launcher started this process, but no variable says how many there are; start "
                     "with ranktune launch or set RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT "
                     "for each (RANKTUNE_LAUNCH=none: one process)");
  }

  void take(const Source& source, std::int64_t rank, std::int64_t world) {
    if (world < 1 || rank >= world)
      throw UsageError(std::string(source.rank) + "=" + std::to_string(rank) + " does not fit " +
                       source.world_size + "=" + std::to_string(world) +
                       ": ranks count from 0 below the world size");
    env_.launcher = name_of(source);
    env_.rank = rank;
    env_.world_size = world;
    note("rank", rank, source.rank);
    note("world size", world, source.world_size);
    find_local_rank(source);
    find_nodes();
  }

  std::string name_of(const Source& source) const {
    if (source.family != std::string("torchrun")) return source.launcher;
    if (const auto file = variables_.text("TORCHELASTIC_ERROR_FILE");
        file && variables_.text(kOwnErrorFile) == file)
      return "ranktune launch";
    if (variables_.has("TORCHELASTIC_RUN_ID")) return "torchrun";
    if (variables_.has("AZUREML_RUN_ID")) return "Azure ML";
    if (variables_.has("CROSS_RANK")) return "DeepSpeed";
    if (variables_.has("RAY_ADDRESS") || variables_.has("RAY_JOB_ID")) return "Ray";
    if (variables_.has("LOCAL_RANK")) return "torchrun";
    if (env_.local_rank_argument) return "torch.distributed.launch";
    return variables_.has("KUBERNETES_SERVICE_HOST") ? "Kubeflow"
                                                     : "a launcher that sets RANK and WORLD_SIZE";
  }

  void find_local_rank(const Source& source) {
    const auto local = variables_.number(source.local_rank);
    const auto size =
        *source.local_world_size != '\0' ? variables_.number(source.local_world_size) : std::nullopt;
    if (local) {
      env_.local_rank = *local;
      note("local rank", *local, source.local_rank);
    } else if (env_.local_rank_argument.value_or(-1) >= 0) {
      env_.local_rank = *env_.local_rank_argument;
      note("local rank", env_.local_rank, "--local_rank");
    } else {
      // Kubeflow, Vertex and others count machines in RANK, one process on each.
      env_.local_rank = 0;
      env_.local_world_size = 1;
      env_.evidence.push_back(
          {"local rank", "0", std::string(source.local_rank) + " is absent: one process per machine"});
      return;
    }
    env_.local_world_size = size ? *size : local_size_elsewhere();
    if (env_.local_rank >= env_.local_world_size)
      throw UsageError(std::string(source.local_rank) + "=" + std::to_string(env_.local_rank) +
                       " does not fit " + std::to_string(env_.local_world_size) +
                       " processes on this machine");
  }

  std::int64_t local_size_elsewhere() const {
    if (const auto size = variables_.number("LOCAL_SIZE")) return *size;  // DeepSpeed
    if (const auto counts = variables_.first_of({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
        counts && env_.launcher == "Slurm") {
      const std::vector<std::int64_t> tasks = expand_task_counts(*counts);
      const auto node = static_cast<std::size_t>(variables_.number("SLURM_NODEID").value_or(0));
      if (node < tasks.size()) return tasks[node];
    }
    return std::max(env_.local_rank + 1, env_.rank == env_.local_rank ? env_.world_size : 1);
  }

  void find_nodes() {
    const auto node = variables_.first_of({"GROUP_RANK", "NODE_RANK", "CROSS_RANK", "SLURM_NODEID"});
    const auto nodes = variables_.first_of({"GROUP_WORLD_SIZE", "AZUREML_NODE_COUNT", "CROSS_SIZE",
                                            "SLURM_STEP_NUM_NODES", "OMPI_MCA_orte_num_nodes"});
    env_.nodes = nodes ? std::max<std::int64_t>(to_count(*nodes, "the number of machines"), 1)
                       : (env_.world_size + env_.local_world_size - 1) / env_.local_world_size;
    env_.node_rank = node && env_.launcher != "Open MPI" ? to_count(*node, "the number of this machine")
                                                         : env_.rank / env_.local_world_size;
  }

  void find_sagemaker() {
    if (variables_.text("RANKTUNE_LAUNCH")) return;
    const std::optional<SageMakerHosts> hosts = sagemaker_hosts(variables_, files_);
    if (hosts && asks_for_smdistributed(variables_, files_))
      env_.notes.push_back("smdistributed needs Python: NCCL, or Gloo on CPUs, does its work");
    if (!hosts || hosts->names.size() < 2) return;
    env_.launcher = "SageMaker";
    env_.rank = env_.node_rank = hosts->own;
    env_.world_size = env_.nodes = std::ssize(hosts->names);
    env_.local_rank = 0;
    env_.master_addr = hosts->names.front();
    const auto port = variables_.text("MASTER_PORT");
    env_.master_port = port ? to_port(*port, "MASTER_PORT") : 7777;
    note("rank", env_.rank, hosts->source);
    note("world size", env_.world_size, hosts->source);
  }

  /// The rules for --local_rank: docs/local_rank.md.
  void obey_argument() {
    const std::optional<std::int64_t> typed = env_.local_rank_argument;
    if (!typed) return;
    if (env_.launcher.empty()) {
      if (*typed < 0) return;
      const std::string k = std::to_string(*typed);
      throw UsageError(
          "--local_rank " + k + " means: this is process " + k +
          " of several on this machine, but nothing started the others; for one process leave the flag out, "
          "for N processes type ranktune train --nproc_per_node N ...");
    }
    if (*typed >= 0 && *typed != env_.local_rank)
      throw UsageError("--local_rank " + std::to_string(*typed) + " on the command line, local rank " +
                       std::to_string(env_.local_rank) + " from " + env_.launcher +
                       ": leave the flag out, or unset the launcher's variables");
    if (*typed >= 0) return;
    if (env_.world_size > 1)
      throw UsageError(
          "--local_rank -1 asks for one process, but " + env_.launcher + " started " +
          std::to_string(env_.world_size) +
          ": each would train alone into the same folder; leave the flag out, or start without the launcher");
    env_.local_rank = -1;
  }

  /// MPICH gives a job no number of its own. On one machine the proxy that has started all its ranks stands
  /// for it, so that two jobs do not want the same port.
  void find_hydra() {
    if (env_.launcher != "MPICH" || env_.local_world_size != env_.world_size) return;
    const std::string pid = pid_of_ancestor("hydra_pmi_proxy", files_);
    if (!pid.empty()) hydra_ = "hydra." + pid;
  }

  /// Of those that a batch system has given to its own launcher; empty: not known.
  std::string first_machine() const {
    if (env_.launcher == "Slurm") {
      const auto hosts = variables_.first_of({"SLURM_STEP_NODELIST", "SLURM_NODELIST"});
      return hosts ? expand_host_list(*hosts).front() : "";
    }
    if (env_.launcher != "jsrun") return "";
    const auto hosts = job_hosts(variables_, files_);
    return hosts && !hosts->names.empty() ? hosts->names.front() : "";
  }

  void find_master() {
    if (const auto address = variables_.text("MASTER_ADDR")) {
      env_.master_addr = to_host(*address);
      const auto port = variables_.text("MASTER_PORT");
      env_.master_port = port ? to_port(*port, "MASTER_PORT") : 29500;
      env_.evidence.push_back(
          {"master", env_.master_addr + ":" + std::to_string(env_.master_port),
           port ? "MASTER_ADDR, MASTER_PORT" : "MASTER_ADDR, and 29500 for want of MASTER_PORT"});
      return;
    }
    if (!env_.master_addr.empty()) return;
    const std::string job = variables_
                                .first_of({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID",
                                           "SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID", "FLUX_JOB_ID"})
                                .value_or(hydra_.empty() ? env_.launcher : hydra_) +
                            "." + variables_.first_of({"SLURM_STEP_ID", "SLURM_STEPID"}).value_or("");
    const auto port = variables_.text("MASTER_PORT");
    env_.master_port = port ? to_port(*port, "MASTER_PORT") : port_of_job(job);
    if (env_.local_world_size == env_.world_size) {
      env_.master_addr = "127.0.0.1";
    } else if (const std::string first = first_machine(); !first.empty()) {
      env_.master_addr = first;
    } else {
      throw UsageError(
          "ranks on several machines, and no MASTER_ADDR: name the machine of rank 0, as in mpirun -x "
          "MASTER_ADDR=host -x MASTER_PORT=29500 (MPICH: -genv MASTER_ADDR host -genv MASTER_PORT 29500)");
    }
    env_.evidence.push_back({"master", env_.master_addr + ":" + std::to_string(env_.master_port),
                             "no MASTER_ADDR: from " + env_.launcher});
  }

  VariableReader variables_;
  const FileReader& files_;
  std::string hydra_;  ///< the job of MPICH's that this is; empty: none, or unknown
  LaunchEnv env_;
};

}  // namespace

Detection detect(const std::vector<std::string>& arguments, const Variables& variables,
                 const FileReader& files) {
  Detection detection{.env = {}, .arguments = arguments};
  const std::optional<std::int64_t> typed = take_local_rank(detection.arguments);
  detection.env = Detector(variables, files).run(typed);
  return detection;
}

}  // namespace ranktune::launch
