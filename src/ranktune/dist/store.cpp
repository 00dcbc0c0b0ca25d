#include "ranktune/dist/store.h"

#include <string>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/dist/messages.h"

namespace ranktune::dist {

std::string address_of(const launch::LaunchEnv& env) {
  const bool ipv6 = env.master_addr.find(':') != std::string::npos;
  return (ipv6 ? "[" + env.master_addr + "]" : env.master_addr) + ":" + std::to_string(env.master_port);
}

namespace {

std::string advice_for_server(const launch::LaunchEnv& env, const std::string& cause) {
  return "the store cannot listen on port " + std::to_string(env.master_port) + " (" + cause +
         "): if another job has the port, choose one with --master_port or MASTER_PORT";
}

std::string advice_for_client(const launch::LaunchEnv& env, const std::string& cause) {
  return "no store answers at " + address_of(env) + " (" + cause +
         "): is rank 0 running there, is the address that of its machine, and does no firewall or other "
         "program stand at this port?";
}

}  // namespace

c10::intrusive_ptr<c10d::Store> open_store(const launch::LaunchEnv& env, std::chrono::milliseconds timeout) {
  const Clock::time_point started = Clock::now();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(env.master_port);
  options.isServer = env.rank == 0 && !env.agent_store;
  options.numWorkers = static_cast<std::size_t>(env.world_size);
  options.waitWorkers = false;  // the handshake waits, and knows whom for
  options.timeout = timeout;
  std::string cause = "something does, but it is no store";
  try {
    // The constructor can outstay its timeout by a minute when a foreign server answers.
    const auto store = within(timeout + std::chrono::seconds(2),
                              [host = env.master_addr, options]() -> c10::intrusive_ptr<c10d::Store> {
                                return c10::make_intrusive<c10d::TCPStore>(host, options);
                              });
    if (store) return *store;
  } catch (const std::exception& error) {
    cause = first_line(error);
  }
  throw DistributedError(env.rank, "meeting the other ranks", seconds_since(started),
                         options.isServer ? advice_for_server(env, cause) : advice_for_client(env, cause));
}

}  // namespace ranktune::dist
