#pragma once

#include <cstdint>

#include "ranktune/launch/descriptor.h"

namespace ranktune::launch {

/// Keeps a TCP port of this machine for the store of rank 0: bound on all addresses but never listening, so
/// that no other program gets it, while rank 0, which binds with SO_REUSEADDR as TCPStore does, can listen on
/// it.
class PortHolder {
 public:
  /// `port` 0: a free one. THROWS: UsageError naming who has the port.
  explicit PortHolder(std::int64_t port);
  std::int64_t port() const noexcept { return port_; }

 private:
  void take_free_port();
  void take_given_port();

  Descriptor socket_;
  Descriptor mark_;  ///< tells other launchers of this machine
  std::int64_t port_;
};

}  // namespace ranktune::launch
