#include "ranktune/launch/machines.h"

#include <optional>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/network.h"
#include "ranktune/launch/option_text.h"

namespace ranktune::launch {
namespace {

constexpr std::int64_t kTorchPort =
    29500;  // torchrun's default, on which machines that were told nothing agree
constexpr std::int64_t kMostMachines = 100'000;

struct Endpoint {
  std::optional<std::string> address = {};
  std::optional<std::int64_t> port = {};
};

std::string shown(const std::string& flag, const std::string& value) {
  return flag + " " + value;
}

/// "host", "host:29500", "[::1]:29500". An address of IPv6 without brackets has no port.
Endpoint read_endpoint(const std::string& text) {
  const auto refuse = [&] {
    throw UsageError(shown("--rdzv_endpoint", text) + ": it must be HOST or HOST:PORT");
  };
  if (text.empty()) return {};
  std::string address = text, port;
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.front() == '[';
  const bool bare_ipv6 = !bracketed && colon != std::string::npos && text.find(':') != colon;
  if (colon != std::string::npos && !bare_ipv6 && (!bracketed || text[colon - 1] == ']')) {
    address = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (!whole_number(port)) refuse();
  }
  if (bracketed) {
    if (address.back() != ']') refuse();
    address = address.substr(1, address.size() - 2);
  }
  if (address.empty()) refuse();
  return {address, whole_number(port)};
}

class Resolver {
 public:
  Resolver(const LaunchOptions& options, const HostFacts& host) : options_(options), host_(host) {}

  Machines resolve() {
    check_backend();
    resolve_nodes();
    if (options_.standalone) return standalone();
    resolve_node_rank();
    resolve_master();
    if (machines_.nodes > 1) note_rendezvous();
    return std::move(machines_);
  }

 private:
  bool etcd() const { return options_.rdzv_backend.starts_with("etcd"); }

  void check_backend() const {
    const std::string& name = options_.rdzv_backend;
    if (name != "static" && name != "c10d" && name != "etcd" && name != "etcd-v2")
      throw UsageError(shown("--rdzv_backend", name) +
                       ": it must be static, or c10d, which works like it here");
  }

  void resolve_nodes() {
    if (options_.nnodes == "auto") {
      ask_platform();
      return;
    }
    const std::vector<std::string> parts = split(options_.nnodes, ':');
    const std::optional<std::int64_t> nodes = whole_number(parts.back());
    if (parts.size() > 2 || !nodes || *nodes < 1 || *nodes > kMostMachines || !whole_number(parts.front()))
      throw UsageError(shown("--nnodes", options_.nnodes) + ": it must be a number of machines, or auto");
    if (whole_number(parts.front()) != nodes)
      throw UsageError(shown("--nnodes", options_.nnodes) +
                       ": the number of machines is fixed here; give one number");
    machines_.nodes = *nodes;
  }

  void ask_platform() {
    platform_ = host_.node();
    machines_.notes = platform_.notes;
    machines_.processes_per_node = platform_.processes_per_node.value_or("");
    if (platform_.nodes)
      machines_.nodes = *platform_.nodes;
    else if (!platform_.platform.empty())
      throw UsageError("--nnodes auto: " + platform_.platform +
                       " does not say how many machines there are; give --nnodes N");
    else
      machines_.notes.push_back(
          "--nnodes auto: nothing here says that there are other machines; starting on this one");
  }

  Machines standalone() {
    if (machines_.nodes > 1)
      throw UsageError("--standalone is for one machine, but --nnodes is " + std::to_string(machines_.nodes) +
                       "; leave one of them out");
    machines_.node_rank = 0;
    return std::move(machines_);
  }

  void resolve_node_rank() {
    const std::string nodes = std::to_string(machines_.nodes);
    const std::optional<std::int64_t> rank = options_.node_rank ? options_.node_rank : platform_.node_rank;
    if (!rank && machines_.nodes > 1)
      throw UsageError(
          "--nnodes " + nodes + " needs --node_rank: 0 on the machine of --master_addr, 1 on the next" +
          (options_.rdzv_backend == "static"
               ? std::string()
               : " (--rdzv_backend " + options_.rdzv_backend + " does not number machines here)"));
    machines_.node_rank = rank.value_or(0);
    if (machines_.node_rank < 0 || machines_.node_rank >= machines_.nodes)
      throw UsageError("--node_rank " + std::to_string(machines_.node_rank) + ": with --nnodes " + nodes +
                       " it must be 0 to " + std::to_string(machines_.nodes - 1));
  }

  void resolve_master() {
    Endpoint endpoint = etcd() ? Endpoint() : read_endpoint(options_.rdzv_endpoint);
    if (endpoint.address && options_.master_addr && endpoint.address != options_.master_addr)
      throw UsageError("--master_addr " + *options_.master_addr + ", but --rdzv_endpoint " +
                       options_.rdzv_endpoint + "; give one of them");
    if (options_.master_addr) endpoint.address = options_.master_addr;
    if (!endpoint.address) endpoint.address = platform_.master_addr;
    if (options_.master_port) endpoint.port = options_.master_port;
    if (!endpoint.port) endpoint.port = platform_.master_port;
    if (!endpoint.address && machines_.nodes > 1)
      throw UsageError("--nnodes " + std::to_string(machines_.nodes) +
                       " needs --master_addr: the name or address of the machine with --node_rank 0");
    machines_.master_addr = endpoint.address.value_or("127.0.0.1");
    machines_.master_port = endpoint.port.value_or(machines_.nodes == 1 ? 0 : kTorchPort);
    check_port();
  }

  void check_port() const {
    const std::int64_t port = machines_.master_port;
    const std::string flag = "--master_port " + std::to_string(port) + ": ";
    if (port < 0 || port > 65535) throw UsageError(flag + "ports are 1 to 65535, and 0 for a free one");
    if (port == 0 && machines_.nodes > 1)
      throw UsageError(flag + "all machines must know the port before they start; give each the same number");
  }

  void note_rendezvous() {
    if (options_.rdzv_backend != "static")
      machines_.notes.push_back("--rdzv_backend " + options_.rdzv_backend +
                                ": machines meet at --master_addr by their --node_rank, as with static");
    if (is_loopback_address(machines_.master_addr))
      machines_.notes.push_back("--master_addr " + machines_.master_addr + " with --nnodes " +
                                std::to_string(machines_.nodes) +
                                " works only where all of them are started on this machine");
  }

  const LaunchOptions& options_;
  const HostFacts& host_;
  NodeEnv platform_ = {};
  Machines machines_;
};

}  // namespace

Machines resolve_machines(const LaunchOptions& options, const HostFacts& host) {
  return Resolver(options, host).resolve();
}

}  // namespace ranktune::launch
