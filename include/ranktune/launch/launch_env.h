#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Which process am I: read once, by pure functions over the given variables and files, and handed down.
namespace ranktune::launch {

using Variables = std::map<std::string, std::string>;

/// The value of a variable; "" for one that is absent.
std::string value_of(const Variables& variables, const std::string& name);

/// The content of a file, or nothing where it cannot be read.
using FileReader = std::function<std::optional<std::string>(const std::filesystem::path&)>;

/// A fact and where it comes from, for people: {"rank", "3", "RANK"}.
struct Evidence {
  std::string what;
  std::string value;
  std::string source;  ///< name of a variable, a file or a flag
};

/// One process among those of its job.
struct LaunchEnv {
  std::string launcher;  ///< "torchrun", "Open MPI", "Slurm", ...; empty: nothing launched this process
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::int64_t local_rank = -1;  ///< among the processes of this host; -1: alone, not distributed
  std::int64_t local_world_size = 1;
  std::int64_t node_rank = 0;
  std::int64_t nodes = 1;
  std::string master_addr = {};  ///< where rank 0's store listens; empty when not distributed
  std::int64_t master_port = 0;
  std::string run_id = {};  ///< the same for all ranks of a job, unlike another job's
  std::int64_t restart_count = 0;
  bool agent_store = false;   ///< the launcher holds the store: no rank opens it
  bool own_cores = false;     ///< the launcher has bound each rank to cores that the others do not use
  bool port_is_held = false;  ///< the launcher keeps the port bound for rank 0 until its store listens
  std::optional<std::int64_t> local_rank_argument = {};  ///< as typed or as a launcher inserted it
  std::vector<Evidence> evidence = {};
  std::vector<std::string> notes = {};  ///< one line each, to be shown once

  bool distributed() const noexcept { return local_rank >= 0; }
  bool is_main() const noexcept { return rank == 0; }
};

/// What a launcher that runs once per machine is told by the platform. Absent: the platform does not say.
struct NodeEnv {
  std::string platform;  ///< "Kubeflow", "SageMaker", ...; empty: none seen
  std::optional<std::int64_t> node_rank = {};
  std::optional<std::int64_t> nodes = {};
  std::optional<std::string> processes_per_node = {};  ///< a number, "auto", "cpu" or "gpu"
  std::optional<std::string> master_addr = {};
  std::optional<std::int64_t> master_port = {};
  std::vector<Evidence> evidence = {};
  std::vector<std::string> notes = {};
};

/// What detect() found, and the arguments that are left for the program.
struct Detection {
  LaunchEnv env;
  std::vector<std::string>
      arguments;  ///< without --local_rank, --local-rank and their value, wherever they stood
};

/// Finds the process's place: RANKTUNE_LAUNCH=none|torchrun|mpi|slurm when set, else torchrun's variables,
/// then the MPI families, then a Slurm step. A Slurm batch shell is no step. `arguments` are the words after
/// the program's name. Rules for every combination with --local_rank: docs/local_rank.md. THROWS: UsageError
/// naming both values and their sources where two disagree, a part is missing or out of range, or the typed
/// local rank asks for processes that nobody started.
Detection detect(const std::vector<std::string>& arguments, const Variables& variables,
                 const FileReader& files);

/// The machine's place among the machines of a job, for `ranktune launch`.
NodeEnv detect_node(const Variables& variables, const FileReader& files);

}  // namespace ranktune::launch
