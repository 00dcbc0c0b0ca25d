#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "ranktune/launch/launch_env.h"

namespace ranktune::dist {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where the store of env's job listens, an IPv6 address in brackets.
std::string address_of(const launch::LaunchEnv& env);

/// The store of env's job: rank 0 listens at the master address unless a launcher's agent does; the others
/// connect. THROWS: DistributedError after `timeout`, whatever answers there.
c10::intrusive_ptr<c10d::Store> open_store(const launch::LaunchEnv& env, std::chrono::milliseconds timeout);

}  // namespace ranktune::dist
