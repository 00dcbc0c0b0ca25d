#include "ranktune/dist/handshake.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "ranktune/core/error.h"
#include "ranktune/dist/messages.h"
#include "ranktune/dist/store.h"
#include "ranktune/launch/network.h"
#include "ranktune/launch/system_environment.h"
#include "ranktune/version.h"

namespace ranktune::dist {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// What a rank tells the others about itself.
nlohmann::json introduce(const launch::LaunchEnv& env) {
  const std::string host = launch::host_name(), loopback = launch::loopback_id();
  return {{"host", host},
          {"loopback", loopback.empty() ? host : loopback},
          {"pid", ::getpid()},
          {"local_rank", env.local_rank},
          {"world_size", env.world_size},
          {"run_id", env.run_id},
          {"version", RANKTUNE_VERSION}};
}

std::string who(std::int64_t rank, const nlohmann::json& card) {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(card.at("pid").get<std::int64_t>()) +
         " on " + card.at("host").get<std::string>() + ")";
}

/// What makes two ranks strangers to each other, or "".
std::string mismatch(const nlohmann::json& mine, const nlohmann::json& theirs) {
  for (const char* field : {"world_size", "run_id", "version"})
    if (mine.at(field) != theirs.at(field))
      return "has " + std::string(field) + " " + theirs.at(field).dump() + ", this rank has " +
             mine.at(field).dump();
  return "";
}

nlohmann::json read_card(c10d::Store& store, const std::string& key) {
  const Bytes bytes = store.get(key);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

}  // namespace

std::string name_ranks(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = std::min(ranks.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == ranks.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
  }
  return ranks.size() > shown ? text + " and " + std::to_string(ranks.size() - shown) + " others" : text;
}

std::vector<std::int64_t> wait_for_ranks(c10d::Store& store, const std::string& prefix,
                                         std::int64_t world_size, std::chrono::milliseconds timeout) {
  std::vector<std::string> keys;
  for (std::int64_t rank = 0; rank < world_size; ++rank) keys.push_back(prefix + std::to_string(rank));
  try {
    store.wait(keys, timeout);
    return {};
  } catch (const c10::Error&) {  // late, or the store is gone: the questions below tell, by throwing again
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < world_size; ++rank)
      if (!store.check({keys[static_cast<std::size_t>(rank)]})) missing.push_back(rank);
    return missing;
  }
}

namespace {

/// One rank's part in the meeting of all.
class Meeting {
 public:
  Meeting(const launch::LaunchEnv& env, const c10::intrusive_ptr<c10d::Store>& store,
          std::chrono::milliseconds timeout)
      : env_(env), store_(store), deadline_(started_ + timeout), own_(introduce(env)) {}

  std::vector<Member> run() {
    try {
      arrive();
      std::vector<Member> members;
      for (std::int64_t rank = 0; rank < env_.world_size; ++rank) members.push_back(meet(rank));
      return members;
    } catch (const DistributedError& error) {
      if (holds_store()) stay_for_the_others(error.what());
      throw;
    } catch (const c10::Error& error) {
      fail("lost the store at " + address_of(env_) + " (" + first_line(error) +
           "): rank 0, which holds it, has left; its own message tells why");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw DistributedError(env_.rank, "meeting the other ranks", seconds_since(started_), message);
  }
  std::string key(const std::string& name) const {
    return "ranktune/" + std::to_string(env_.restart_count) + "/" + name;
  }
  std::string member_key(std::int64_t rank) const { return key("member/") + std::to_string(rank); }
  bool holds_store() const { return env_.rank == 0 && !env_.agent_store; }

  void arrive() {
    if (store_->add(key("claim/") + std::to_string(env_.rank), 1) > 1)
      fail("another process has come as rank " + std::to_string(env_.rank) +
           " before: " + who(env_.rank, read_card(*store_, member_key(env_.rank))) + "; do two jobs use " +
           address_of(env_) + ", or was one of them started twice?");
    const std::string text = own_.dump();
    store_->set(member_key(env_.rank), Bytes(text.begin(), text.end()));
  }

  /// Waits rank by rank, so that a stranger is told at once and not after everybody's timeout.
  Member meet(std::int64_t rank) {
    while (!came_soon(rank)) {
      if (store_->check({key("verdict")})) {
        const Bytes verdict = store_->get(key("verdict"));
        fail(std::string(verdict.begin(), verdict.end()));
      }
      if (Clock::now() < deadline_) continue;
      fail(name_ranks(missing()) + " of " + std::to_string(env_.world_size) + " did not come to " +
           address_of(env_) + ": were all started, with this address, and can they reach it?");
    }
    const nlohmann::json card = read_card(*store_, member_key(rank));
    if (const std::string difference = mismatch(own_, card); !difference.empty())
      fail(who(rank, card) + " " + difference + ": do two jobs use " + address_of(env_) + "?");
    return {card.at("host").get<std::string>(), card.at("pid").get<std::int64_t>(),
            card.at("local_rank").get<std::int64_t>(), card.at("loopback").get<std::string>()};
  }

  /// Within a moment: long enough not to be busy, short enough to see a verdict.
  bool came_soon(std::int64_t rank) {
    constexpr std::chrono::milliseconds kMoment{500};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    try {
      store_->wait({member_key(rank)}, std::clamp(left, std::chrono::milliseconds(1), kMoment));
      return true;
    } catch (const c10::Error&) {
      return store_->check({member_key(rank)});  // throws where the store is gone
    }
  }

  std::vector<std::int64_t> missing() {
    std::vector<std::int64_t> ranks;
    for (std::int64_t rank = 0; rank < env_.world_size; ++rank)
      if (!store_->check({member_key(rank)})) ranks.push_back(rank);
    return ranks;
  }

  /// The store ends with this rank: the others must have read why before.
  void stay_for_the_others(const std::string& verdict) {
    constexpr std::chrono::milliseconds kStay{1500};
    store_->set(key("verdict"), Bytes(verdict.begin(), verdict.end()));
    std::this_thread::sleep_for(kStay);
  }

  const launch::LaunchEnv& env_;
  c10::intrusive_ptr<c10d::Store> store_;
  Clock::time_point started_ = Clock::now(), deadline_;
  nlohmann::json own_;
};

}  // namespace

std::vector<Member> shake_hands(const launch::LaunchEnv& env, const c10::intrusive_ptr<c10d::Store>& store,
                                std::chrono::milliseconds timeout) {
  return Meeting(env, store, timeout).run();
}

}  // namespace ranktune::dist
