#include "ranktune/dist/backend.h"

#include <algorithm>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>

#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#ifdef USE_C10D_MPI
#include <torch/csrc/distributed/c10d/ProcessGroupMPI.hpp>
#endif

#include "ranktune/core/error.h"
#include "ranktune/launch/network.h"

namespace ranktune::dist {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

/// Names of hosts do not tell: machines made from one image, and containers, often have the same.
bool share_a_machine(const std::vector<Member>& members) {
  return std::all_of(members.begin(), members.end(),
                     [&](const Member& member) { return member.loopback == members.front().loopback; });
}

/// Gloo's own choice is the address of the host's name, which on Debian is a loopback address that no other
/// machine can reach.
std::string gloo_address(const launch::LaunchEnv& env, const std::vector<Member>& members) {
  if (share_a_machine(members)) return "127.0.0.1";
  const std::string address = launch::address_towards(env.master_addr, env.master_port);
  if (address.empty() || launch::is_loopback_address(address))
    throw UsageError(
        "the way to the master address " + env.master_addr + " is " +
        (address.empty() ? "unknown" : "the loopback address " + address) +
        ", but the ranks are on several machines: give MASTER_ADDR as the others reach it, or name the "
        "network interface in GLOO_SOCKET_IFNAME");
  return address;
}

c10::intrusive_ptr<c10d::Backend> make_gloo(const launch::LaunchEnv& env, const std::vector<Member>& members,
                                            const GroupOptions& options,
                                            const c10::intrusive_ptr<c10d::Store>& store) {
  using Gloo = c10d::ProcessGroupGloo;
  auto gloo = Gloo::Options::create(options.timeout);
  gloo->devices.push_back(options.interface.empty()
                              ? Gloo::createDeviceForHostname(gloo_address(env, members))
                              : Gloo::createDeviceForInterface(options.interface));
  return c10::make_intrusive<Gloo>(store, static_cast<int>(env.rank), static_cast<int>(env.world_size),
                                   std::move(gloo));
}

#ifdef USE_C10D_NCCL
c10::intrusive_ptr<c10d::Backend> make_nccl(const launch::LaunchEnv& env, const GroupOptions& options,
                                            const c10::intrusive_ptr<c10d::Store>& store) {
  auto nccl = c10d::ProcessGroupNCCL::Options::create();
  nccl->timeout = options.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, static_cast<int>(env.rank),
                                                     static_cast<int>(env.world_size), std::move(nccl));
}
#endif

/// The back end of that name and whether it takes tensors that lie on the CPU; all take those of GPUs.
struct Made {
  c10::intrusive_ptr<c10d::Backend> backend;
  BackendType type = BackendType::UNDEFINED;
  bool takes_cpu = true;
};

Made make_backend(const launch::LaunchEnv& env, const std::vector<Member>& members,
                  const GroupOptions& options, const c10::intrusive_ptr<c10d::Store>& store) {
  if (options.backend == "gloo") return {make_gloo(env, members, options, store), BackendType::GLOO};
#ifdef USE_C10D_NCCL
  if (options.backend == "nccl")
    return {make_nccl(env, options, store), BackendType::NCCL, /*takes_cpu=*/false};
#endif
#ifdef USE_C10D_MPI
  if (options.backend == "mpi") return {c10d::ProcessGroupMPI::createProcessGroupMPI(), BackendType::MPI};
#endif
  std::string available;
  for (const std::string& name : available_backends()) available += (available.empty() ? "" : ", ") + name;
  throw UsageError("--ddp_backend " + options.backend + ": this LibTorch has " + available +
                   "; leave the flag out to have it chosen");
}

}  // namespace

std::vector<std::string> available_backends() {
  std::vector<std::string> names = {"gloo"};
#ifdef USE_C10D_NCCL
  names.emplace_back("nccl");
#endif
#ifdef USE_C10D_MPI
  names.emplace_back("mpi");
#endif
  return names;
}

c10::intrusive_ptr<c10d::ProcessGroup> make_c10d_group(const launch::LaunchEnv& env,
                                                       const std::vector<Member>& members,
                                                       const GroupOptions& options,
                                                       const c10::intrusive_ptr<c10d::Store>& store) {
  const Made made = make_backend(env, members, options, store);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, static_cast<int>(env.rank),
                                                       static_cast<int>(env.world_size));
  group->setBackend(c10::DeviceType::CUDA, made.type, made.backend);
  // What lies on the CPU (texts, counts) travels by Gloo also where gradients go by NCCL.
  if (made.takes_cpu)
    group->setBackend(c10::DeviceType::CPU, made.type, made.backend);
  else
    group->setBackend(c10::DeviceType::CPU, BackendType::GLOO,
                      make_gloo(env, members, options, c10::make_intrusive<c10d::PrefixStore>("cpu", store)));
  group->setDefaultBackend(made.type);
  group->setGroupName("ranktune");
  return group;
}

}  // namespace ranktune::dist
