#include "ranktune/launch/network.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace ranktune::launch {
namespace {

struct Closer {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  return ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0 ? text.data()
                                                                                                 : "";
}

void add_address(std::vector<NetworkInterface>& interfaces, const ifaddrs& entry) {
  const int family = entry.ifa_addr->sa_family;
  const std::string address =
      text_of(entry.ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  if (address.empty()) return;
  auto found = std::find_if(interfaces.begin(), interfaces.end(),
                            [&](const NetworkInterface& one) { return one.name == entry.ifa_name; });
  if (found == interfaces.end())
    found = interfaces.insert(found, {entry.ifa_name, {}, (entry.ifa_flags & IFF_LOOPBACK) != 0});
  found->addresses.push_back(address);
}

}  // namespace

std::vector<NetworkInterface> network_interfaces() {
  std::vector<NetworkInterface> interfaces;
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return interfaces;
  const std::unique_ptr<ifaddrs, Closer> list(found);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next)
      if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == family &&
          (entry->ifa_flags & IFF_UP) != 0)
        add_address(interfaces, *entry);
  return interfaces;
}

std::string address_towards(const std::string& host, std::int64_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return "";
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
    if (const std::string text = known ? text_of(address, size) : ""; !text.empty()) return text;
  }
  return "";
}

std::string loopback_id() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code unknown;
  const std::string network = std::filesystem::read_symlink("/proc/self/ns/net", unknown).string();
  return boot.empty() || network.empty() ? "" : boot + " " + network;
}

bool is_loopback_address(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

}  // namespace ranktune::launch
