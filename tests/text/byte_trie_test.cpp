#include "ranktune/text/byte_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace ranktune::text {
namespace {

TEST(ByteTrie, FindsTheLongestEntry) {
  const ByteTrie trie({{"a", 1}, {"abc", 3}, {"b", 4}});
  const auto match = [&](std::string_view text) { return trie.longest_match(trie.root(), text); };
  EXPECT_EQ(match("abcd").value, 3);
  EXPECT_EQ(match("abcd").length, 3U);
  EXPECT_EQ(match("abd").value, 1);
  EXPECT_EQ(match("abd").length, 1U);
  EXPECT_EQ(match("bb").value, 4);
  EXPECT_EQ(match("c").value, -1);
  EXPECT_EQ(match("").value, -1);
}

TEST(ByteTrie, ContinuesFromAState) {
  const ByteTrie trie({{"##", 0}, {"##ing", 1}, {"#", 2}});
  const auto state = trie.descend("##");
  ASSERT_TRUE(state);
  EXPECT_EQ(trie.longest_match(*state, "ings").value, 1);
  EXPECT_EQ(trie.longest_match(*state, "ings").length, 3U);
  EXPECT_EQ(trie.longest_match(*state, "in").value, -1) << "the entry ## itself is not a match of nothing";
  EXPECT_FALSE(trie.descend("#x"));
}

TEST(ByteTrie, EmptySetAndEqualEntries) {
  EXPECT_EQ(ByteTrie().longest_match(0, "a").value, -1);
  EXPECT_EQ(ByteTrie({{"a", 1}, {"a", 2}}).longest_match(0, "a").value, 2);
}

TEST(ByteTrie, AgreesWithAMapOnRandomEntries) {
  std::mt19937 random(7);
  const auto word = [&](std::size_t longest, unsigned bytes) {
    std::string text(random() % (longest + 1), '\0');
    for (char& c : text) c = static_cast<char>(random() % bytes);
    return text;
  };
  for (const unsigned bytes : {2U, 256U}) {
    std::map<std::string, std::int32_t> map;
    for (std::int32_t i = 0; i < 3000; ++i) map.try_emplace(word(bytes == 2 ? 14 : 3, bytes), i);
    const ByteTrie trie(std::vector<std::pair<std::string_view, std::int32_t>>(map.begin(), map.end()));
    for (int i = 0; i < 20000; ++i) {
      const std::string text = word(16, bytes);
      ByteTrie::Match expected;
      for (std::size_t length = 1; length <= text.size(); ++length)
        if (const auto entry = map.find(text.substr(0, length)); entry != map.end())
          expected = {entry->second, length};
      const ByteTrie::Match match = trie.longest_match(trie.root(), text);
      ASSERT_EQ(match.value, expected.value);
      ASSERT_EQ(match.length, expected.length);
    }
  }
}

}  // namespace
}  // namespace ranktune::text
