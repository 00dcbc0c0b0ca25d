#pragma once

#include <cstdint>
#include <string>

namespace ranktune::launch {

/// Who listens on a TCP port of this machine: "pid 4711 (python3)", or "another process" when the system does
/// not tell, as for other users' processes.
std::string port_owner(std::int64_t port);

}  // namespace ranktune::launch
