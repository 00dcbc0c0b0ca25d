#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <type_traits>
#include <utility>

#include "ranktune/launch/launch_env.h"

namespace ranktune::dist {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The result of `work`, or nothing when it takes longer than `limit`. What waits for a store's server cannot
/// be interrupted: its thread is then left behind, so `work` has to own all that it uses. THROWS: what work
/// throws.
template <typename Work>
std::optional<std::invoke_result_t<Work>> within(std::chrono::milliseconds limit, Work work) {
  std::promise<std::invoke_result_t<Work>> promise;
  auto result = promise.get_future();
  std::thread([promise = std::move(promise), work = std::move(work)]() mutable {
    try {
      promise.set_value(work());
    } catch (const std::exception&) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
  if (result.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return result.get();
}

/// Where the store of env's job listens, an IPv6 address in brackets.
std::string address_of(const launch::LaunchEnv& env);

/// The store of env's job: rank 0 listens at the master address unless a launcher's agent does; the others
/// connect. THROWS: DistributedError after `timeout`, whatever answers there.
c10::intrusive_ptr<c10d::Store> open_store(const launch::LaunchEnv& env, std::chrono::milliseconds timeout);

}  // namespace ranktune::dist
