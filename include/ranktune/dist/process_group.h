#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

/// Ranks working together, on LibTorch's c10d. Operations marked COLLECTIVE must be called by all ranks, in
/// the same order; each ends within the group's timeout, in a DistributedError where it fails.
namespace ranktune::dist {

struct GroupOptions {
  std::string backend = "gloo";                       ///< "gloo", or where LibTorch has them "nccl", "mpi"
  std::chrono::milliseconds timeout{30 * 60 * 1000};  ///< of the meeting, and of every operation after it
  std::string interface = {};  ///< network interface for Gloo; empty: the one towards the master
};

/// One rank as the others know it.
struct Member {
  std::string host;
  std::int64_t pid = 0;
  std::int64_t local_rank = 0;
  std::string loopback = {};  ///< the same for ranks that reach each other at the loopback address
};

/// A rank's end of a process group. Not copyable: it stands for connections.
class ProcessGroup {
 public:
  ProcessGroup(launch::LaunchEnv env, c10::intrusive_ptr<c10d::Store> store,
               c10::intrusive_ptr<c10d::ProcessGroup> group, std::vector<Member> members,
               std::chrono::milliseconds timeout);
  /// Says goodbye; where this rank holds the store, waits up to a few seconds until the others have done so.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  std::int64_t rank() const noexcept { return env_.rank; }
  std::int64_t world_size() const noexcept { return env_.world_size; }
  const launch::LaunchEnv& env() const noexcept { return env_; }
  const std::vector<Member>& members() const noexcept { return members_; }  ///< by rank
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const noexcept { return group_; }

  /// COLLECTIVE. Returns when all ranks have come; the error names those that did not.
  void barrier();

  /// Runs `work`, a collective operation; what it throws comes out as a DistributedError that names
  /// `operation`, this rank and the seconds waited.
  void run(const std::string& operation, const std::function<void()>& work) const;

 private:
  /// The ranks that `question` finds in the store; nothing where the store is silent, as when rank 0 is
  /// stopped.
  std::optional<std::vector<std::int64_t>> ask_store(
      std::chrono::milliseconds limit, std::function<std::vector<std::int64_t>()> question) const;

  launch::LaunchEnv env_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::vector<Member> members_;
  std::chrono::milliseconds timeout_;
  std::int64_t barriers_ = 0;
  mutable bool failed_ = false;           ///< an operation did: there may be nobody to say goodbye to
  mutable bool store_is_silent_ = false;  ///< a question to it still waits, and nobody else can ask
};

/// The back ends that this LibTorch has: "gloo" and maybe "nccl", "mpi".
std::vector<std::string> available_backends();

/// COLLECTIVE. Meets the other ranks of env's job at its master address and makes sure that they fit: each
/// rank comes once, with the same world size, run id and version. A process that is alone gets a group of
/// one. Several ranks ignore SIGPIPE from here on, unless the program has a handler for it: a rank that dies
/// is an error to the others, not their end. THROWS: DistributedError naming the ranks that did not come in
/// time and the address to check; UsageError for a backend that this LibTorch lacks.
std::unique_ptr<ProcessGroup> init_process_group(const launch::LaunchEnv& env, const GroupOptions& options);

}  // namespace ranktune::dist
