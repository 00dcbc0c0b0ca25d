#include "ranktune/launch/port_holder.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/launch/port_owner.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

bool bind_everywhere(int socket, std::int64_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::int64_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void allow_sharing(int socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// A name in the network namespace that goes away with its last descriptor. Nothing when another has it.
Descriptor mark_of(std::int64_t port) {
  Descriptor mark(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "ranktune-launch-port-" + std::to_string(port);
  std::memcpy(address.sun_path + 1, name.data(),
              name.size());  // the leading zero byte: not in the file system
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const bool taken = ::bind(mark.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0;
  return taken ? Descriptor() : std::move(mark);
}

[[noreturn]] void refuse(std::int64_t port, const std::string& why) {
  throw UsageError("--master_port " + std::to_string(port) + ": " + why);
}

}  // namespace

PortHolder::PortHolder(std::int64_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(port) {
  if (!socket_.open()) throw Error("no socket can be made: " + system_reason(errno));
  if (port == 0)
    take_free_port();
  else
    take_given_port();
}

void PortHolder::take_free_port() {
  // Sharing is allowed only once the port is ours: asked for before, the system may hand out one that another
  // launcher holds in the same way.
  if (!bind_everywhere(socket_.get(), 0)) throw Error("no free port: " + system_reason(errno));
  port_ = port_of(socket_.get());
  allow_sharing(socket_.get());
  mark_ = mark_of(port_);
}

void PortHolder::take_given_port() {
  allow_sharing(socket_.get());  // before: the last job's connections may still be in TIME_WAIT
  if (!bind_everywhere(socket_.get(), port_)) {
    const int code = errno;
    if (code != EADDRINUSE) refuse(port_, "cannot be used: " + system_reason(code));
    refuse(port_, "taken by " + port_owner(port_) + "; end it, or give another port (0: a free one)");
  }
  mark_ = mark_of(port_);
  if (!mark_.open())
    refuse(
        port_,
        "held by another ranktune launch on this machine; give each job a port of its own (0: a free one)");
}

}  // namespace ranktune::launch
