#include "ranktune/dist/process_group.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/dist/backend.h"
#include "ranktune/dist/handshake.h"
#include "ranktune/dist/messages.h"
#include "ranktune/dist/store.h"

namespace ranktune::dist {
namespace {

/// How long the rank that holds the store stays for the others' goodbyes; less after a failure, since ranks
/// that died say none.
constexpr std::chrono::milliseconds kGoodbye{5000}, kGoodbyeAfterFailure{300};
/// How long a store that is asked may take beyond what it is asked to wait.
constexpr std::chrono::milliseconds kStoreGrace{1000};
/// And the meeting of all ranks and their connecting, where a rank 0 that fails stays for the others a while.
constexpr std::chrono::milliseconds kConnectGrace{3000};

constexpr std::uint8_t kWell = 1, kFailed = 0;

/// c10d and its back ends write to connections whose other end may just have died, and are to hear of it as
/// an error. A program that has a handler of its own keeps it.
void outlive_broken_connections() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &now, nullptr);
}

std::string goodbye_key(std::int64_t rank) {
  return "goodbye/" + std::to_string(rank);
}

/// Ranks that have said goodbye without having failed; none where the store is gone.
std::vector<std::int64_t> ranks_that_left(c10d::Store& store, std::int64_t world_size) {
  std::vector<std::int64_t> left;
  try {
    for (std::int64_t rank = 0; rank < world_size; ++rank)
      if (store.check({goodbye_key(rank)}) && store.get(goodbye_key(rank)) == std::vector{kWell})
        left.push_back(rank);
  } catch (const c10::Error&) {
    return {};  // rank 0 has left, and took the store along
  }
  return left;
}

}  // namespace

ProcessGroup::ProcessGroup(launch::LaunchEnv env, c10::intrusive_ptr<c10d::Store> store,
                           c10::intrusive_ptr<c10d::ProcessGroup> group, std::vector<Member> members,
                           std::chrono::milliseconds timeout)
    : env_(std::move(env)),
      store_(std::move(store)),
      group_(std::move(group)),
      members_(std::move(members)),
      timeout_(timeout) {}

ProcessGroup::~ProcessGroup() {
  if (store_is_silent_) return;
  try {
    const bool well = !failed_ && std::uncaught_exceptions() == 0;
    store_->set(goodbye_key(rank()), std::vector{well ? kWell : kFailed});
    if (rank() == 0 && !env_.agent_store)
      wait_for_ranks(*store_, "goodbye/", world_size(), failed_ ? kGoodbyeAfterFailure : kGoodbye);
  } catch (const c10::Error&) {
    // The store went before us: there is nobody left to say goodbye to.
  }
}

void ProcessGroup::barrier() {
  const Clock::time_point started = Clock::now();
  const std::string prefix = "barrier/" + std::to_string(barriers_++) + "/";
  std::vector<std::int64_t> missing;
  run("barrier", [&] {
    const auto found = ask_store(timeout_ + kStoreGrace, [store = store_, prefix, rank = rank(),
                                                          world_size = world_size(), timeout = timeout_] {
      store->set(prefix + std::to_string(rank), std::vector{kWell});
      return wait_for_ranks(*store, prefix, world_size, timeout);
    });
    if (!found) throw std::runtime_error("the store of rank 0 does not answer");
    missing = *found;
  });
  failed_ = !missing.empty();
  if (failed_)
    throw DistributedError(rank(), "barrier", seconds_since(started),
                           name_ranks(missing) +
                               " did not come: stopped, slower than --ddp_timeout, or on another "
                               "path through the program");
}

std::optional<std::vector<std::int64_t>> ProcessGroup::ask_store(
    std::chrono::milliseconds limit, std::function<std::vector<std::int64_t>()> question) const {
  if (store_is_silent_) return std::nullopt;
  auto answer = within(limit, std::move(question));
  store_is_silent_ = !answer;
  return answer;
}

void ProcessGroup::run(const std::string& operation, const std::function<void()>& work) const {
  const Clock::time_point started = Clock::now();
  try {
    work();
  } catch (const Error&) {
    throw;  // speaks for itself
  } catch (const std::exception& error) {
    failed_ = true;
    const std::vector<std::int64_t> left =
        ask_store(kStoreGrace, [store = store_, world_size = world_size()] {
          return ranks_that_left(*store, world_size);
        }).value_or(std::vector<std::int64_t>{});
    throw DistributedError(
        rank(), operation, seconds_since(started),
        first_line(error) + (left.empty() ? ": another rank ended, stopped or is on another path; its own "
                                            "message tells why"
                                          : ": " + name_ranks(left) +
                                                " had fewer steps and left; ranks with unequal amounts of "
                                                "data need DistributedDataParallel's join"));
  }
}

namespace {

/// What ranks do by way of the store, which answers nothing where rank 0 has been stopped. `work` owns
/// all that it uses. THROWS: what work throws, or DistributedError after `limit`.
template <typename Work>
auto while_the_store_answers(const launch::LaunchEnv& env, const std::string& operation,
                             std::chrono::milliseconds limit, Work work) {
  const Clock::time_point started = Clock::now();
  auto result = within(limit, std::move(work));
  if (result) return *std::move(result);
  throw DistributedError(env.rank, operation, seconds_since(started),
                         "the store at " + address_of(env) + " has stopped answering: is " +
                             (env.agent_store ? "the launcher that holds it" : "rank 0, which holds it,") +
                             " stopped, or out of reach?");
}

c10::intrusive_ptr<c10d::ProcessGroup> connect(const launch::LaunchEnv& env,
                                               const std::vector<Member>& members,
                                               const GroupOptions& options,
                                               const c10::intrusive_ptr<c10d::Store>& store) {
  const std::string operation = "connecting to the other ranks";
  const Clock::time_point started = Clock::now();
  try {
    // MPI has to begin in the thread in which it ends, and asks no store.
    if (options.backend == "mpi") return make_c10d_group(env, members, options, store);
    return while_the_store_answers(env, operation, options.timeout + kConnectGrace,
                                   [=] { return make_c10d_group(env, members, options, store); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw DistributedError(env.rank, operation, seconds_since(started),
                           first_line(error) +
                               ": can every rank reach every other? GLOO_SOCKET_IFNAME names the "
                               "network interface to use");
  }
}

}  // namespace

std::unique_ptr<ProcessGroup> init_process_group(const launch::LaunchEnv& env, const GroupOptions& options) {
  c10::intrusive_ptr<c10d::Store> store;
  if (env.distributed()) {
    outlive_broken_connections();
    store = open_store(env, options.timeout);
  } else {
    store = c10::make_intrusive<c10d::HashStore>();
  }
  const std::vector<Member> members =
      while_the_store_answers(env, "meeting the other ranks", options.timeout + kConnectGrace,
                              [=] { return shake_hands(env, store, options.timeout); });
  // A restarted group must not find the keys of the one before it.
  const auto own = c10::make_intrusive<c10d::PrefixStore>(
      "ranktune/" + std::to_string(env.restart_count) + "/group", store);
  own->setTimeout(options.timeout);
  return std::make_unique<ProcessGroup>(env, own, connect(env, members, options, own), members,
                                        options.timeout);
}

}  // namespace ranktune::dist
