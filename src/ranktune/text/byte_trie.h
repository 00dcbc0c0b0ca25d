#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ranktune::text {

/// A set of byte strings, each with a number, for "the longest one that `text` starts with": a double-array
/// trie (Aoe, "An efficient digital search algorithm by using a double-array structure", 1989), where a step
/// is one addition and one comparison. Immutable after construction.
class ByteTrie {
 public:
  using State = std::uint32_t;
  struct Match {
    std::int32_t value = -1;  ///< -1: none
    std::size_t length = 0;   ///< in bytes, counted from the state where the search began
  };

  ByteTrie() : ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>>{}) {}

  /// Of equal strings the last one counts. REQUIRES: values >= 0.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries);

  /// Where searches start.
  State root() const noexcept { return 0; }

  /// The state after `text`, from which searches find what continues it; absent when no entry starts so.
  std::optional<State> descend(std::string_view text) const noexcept;

  /// The longest entry that, from `state` on, `text` starts with; never the empty one.
  Match longest_match(State state, std::string_view text) const noexcept {
    Match best;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const State next = nodes_[state].base + static_cast<unsigned char>(text[i]);
      if (nodes_[next].parent != state) break;
      state = next;
      if (nodes_[state].value >= 0) best = {nodes_[state].value, i + 1};
    }
    return best;
  }

 private:
  struct Node {
    State base;    // children stand at base + byte
    State parent;  // kFree: the place is empty
    std::int32_t value;
  };
  static constexpr State kFree = 0xFFFFFFFF;
  static constexpr State kNoParent = 0xFFFFFFFE;

  class Builder;
  std::vector<Node> nodes_;
};

}  // namespace ranktune::text
