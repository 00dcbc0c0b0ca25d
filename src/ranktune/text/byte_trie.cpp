#include "ranktune/text/byte_trie.h"

#include <algorithm>

namespace ranktune::text {

/// Lays the sorted entries out, a node and its children at a time.
class ByteTrie::Builder {
 public:
  using Entries = std::vector<std::pair<std::string_view, std::int32_t>>;

  Builder(const Entries& entries, std::vector<Node>& nodes) : entries_(entries), nodes_(nodes) {
    grow(kBytes);
    nodes_[0].parent = kNoParent;
    pending_.push_back({0, 0, entries.size(), 0});
    while (!pending_.empty()) {
      const Range range = pending_.back();
      pending_.pop_back();
      place(range);
    }
    grow(highest_ + 1 + kBytes);  // so that base + byte never leaves the array
    nodes_.resize(highest_ + 1 + kBytes);
    nodes_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t kBytes = 256;

  /// The entries [begin, end) share `depth` bytes, which lead to `state`.
  struct Range {
    State state;
    std::size_t begin, end, depth;
  };
  struct Child {
    unsigned char byte;
    std::size_t begin, end;
  };

  void place(const Range& range) {
    std::size_t begin = range.begin;
    for (; begin < range.end && entries_[begin].first.size() == range.depth; ++begin)
      nodes_[range.state].value = entries_[begin].second;
    collect_children(begin, range.end, range.depth);
    if (children_.empty()) return;
    const State base = find_base();
    nodes_[range.state].base = base;
    for (const Child& child : children_) {
      const State state = base + child.byte;
      nodes_[state].parent = range.state;
      highest_ = std::max<std::size_t>(highest_, state);
      pending_.push_back({state, child.begin, child.end, range.depth + 1});
    }
  }

  void collect_children(std::size_t begin, std::size_t end, std::size_t depth) {
    children_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const auto byte = static_cast<unsigned char>(entries_[i].first[depth]);
      if (children_.empty() || children_.back().byte != byte) children_.push_back({byte, i, i});
      children_.back().end = i + 1;
    }
  }

  /// The first place where all children fit. The search begins behind the part that is nearly full.
  State find_base() {
    const std::size_t first_byte = children_.front().byte;
    std::size_t place = std::max(search_from_, first_byte + 1);
    const std::size_t start = place;
    std::size_t occupied = 0;
    for (;; ++place) {
      grow(place + kBytes + 1);
      if (nodes_[place].parent != kFree) {
        ++occupied;
        continue;
      }
      const std::size_t base = place - first_byte;
      const bool fits = std::ranges::all_of(
          children_, [&](const Child& c) { return nodes_[base + c.byte].parent == kFree; });
      if (!fits) continue;
      if (occupied * 20 >= (place - start + 1) * 19) search_from_ = place;
      return static_cast<State>(base);
    }
  }

  void grow(std::size_t size) {
    if (size > nodes_.size()) nodes_.resize(std::max(size, nodes_.size() * 2), Node{0, kFree, -1});
  }

  const Entries& entries_;
  std::vector<Node>& nodes_;
  std::vector<Range> pending_;
  std::vector<Child> children_;
  std::size_t search_from_ = 1;
  std::size_t highest_ = 0;
};

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries) {
  std::ranges::stable_sort(entries, {}, &std::pair<std::string_view, std::int32_t>::first);
  Builder(entries, nodes_);
}

std::optional<ByteTrie::State> ByteTrie::descend(std::string_view text) const noexcept {
  State state = root();
  for (const char c : text) {
    const State next = nodes_[state].base + static_cast<unsigned char>(c);
    if (nodes_[next].parent != state) return std::nullopt;
    state = next;
  }
  return state;
}

}  // namespace ranktune::text
