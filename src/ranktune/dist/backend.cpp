#include "ranktune/dist/backend.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
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

namespace ranktune::dist {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

struct Closer {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

/// This machine's address on the way to `host`, or "": a datagram socket is connected, which sends nothing.
std::string address_towards(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return "";
  const std::unique_ptr<addrinfo, Closer> list(found);
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    const int socket = ::socket(entry->ai_family, entry->ai_socktype, 0);
    if (socket < 0) continue;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    auto* address = reinterpret_cast<sockaddr*>(&own);
    const bool known = ::connect(socket, entry->ai_addr, entry->ai_addrlen) == 0 &&
                       ::getsockname(socket, address, &size) == 0;
    ::close(socket);
    std::array<char, NI_MAXHOST> text{};
    if (known && ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      return text.data();
  }
  return "";
}

bool share_a_machine(const std::vector<Member>& members) {
  return std::all_of(members.begin(), members.end(),
                     [&](const Member& member) { return member.host == members.front().host; });
}

/// Gloo's own choice is the address of the host's name, which on Debian is a loopback address that no other
/// machine can reach.
std::string gloo_address(const launch::LaunchEnv& env, const std::vector<Member>& members) {
  if (share_a_machine(members)) return "127.0.0.1";
  const std::string address = address_towards(env.master_addr, std::to_string(env.master_port));
  if (address.empty() || address.starts_with("127.") || address == "::1")
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

/// The back end of that name and the device whose tensors it takes.
struct Made {
  c10::intrusive_ptr<c10d::Backend> backend;
  BackendType type = BackendType::UNDEFINED;
  c10::DeviceType device = c10::DeviceType::CPU;
};

Made make_backend(const launch::LaunchEnv& env, const std::vector<Member>& members,
                  const GroupOptions& options, const c10::intrusive_ptr<c10d::Store>& store) {
  std::string available = "gloo";
  if (options.backend == "gloo") return {make_gloo(env, members, options, store), BackendType::GLOO};
#ifdef USE_C10D_NCCL
  available += ", nccl";
  if (options.backend == "nccl")
    return {make_nccl(env, options, store), BackendType::NCCL, c10::DeviceType::CUDA};
#endif
#ifdef USE_C10D_MPI
  available += ", mpi";
  if (options.backend == "mpi") return {c10d::ProcessGroupMPI::createProcessGroupMPI(), BackendType::MPI};
#endif
  throw UsageError("--ddp_backend " + options.backend + ": this LibTorch has " + available +
                   "; leave the flag out to have it chosen");
}

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroup> make_c10d_group(const launch::LaunchEnv& env,
                                                       const std::vector<Member>& members,
                                                       const GroupOptions& options,
                                                       const c10::intrusive_ptr<c10d::Store>& store) {
  const Made made = make_backend(env, members, options, store);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, static_cast<int>(env.rank),
                                                       static_cast<int>(env.world_size));
  group->setBackend(made.device, made.type, made.backend);
  // What lies on the CPU (texts, counts) travels by Gloo also where gradients go by NCCL.
  if (made.device != c10::DeviceType::CPU)
    group->setBackend(c10::DeviceType::CPU, BackendType::GLOO,
                      make_gloo(env, members, options, c10::make_intrusive<c10d::PrefixStore>("cpu", store)));
  group->setDefaultBackend(made.type);
  group->setGroupName("ranktune");
  return group;
}

}  // namespace ranktune::dist
