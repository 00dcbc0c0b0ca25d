#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What there is to know about this machine's network.
namespace ranktune::launch {

struct NetworkInterface {
  std::string name;
  std::vector<std::string> addresses;  ///< IPv4 first
  bool loopback = false;
};

/// Those that are up and have an address, in the system's order.
std::vector<NetworkInterface> network_interfaces();

/// This machine's address on the way to `host`, or "" where the name cannot be resolved or there is no way.
/// Sends nothing.
std::string address_towards(const std::string& host, std::int64_t port);

bool is_loopback_address(const std::string& address);

/// The same for processes that reach each other at the loopback address: those of one machine that is up
/// since one moment, in one network namespace of it. "" where the system does not tell.
std::string loopback_id();

}  // namespace ranktune::launch
