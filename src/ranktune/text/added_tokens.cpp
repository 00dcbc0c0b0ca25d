#include "ranktune/text/added_tokens.h"

#include <algorithm>
#include <utility>

namespace ranktune::text {
namespace {

std::size_t previous_character(std::string_view text, std::size_t position) {
  do --position;
  while ((static_cast<unsigned char>(text[position]) & 0xC0U) == 0x80U);
  return position;
}

ByteTrie make_trie(const std::vector<AddedToken>& tokens) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t i = tokens.size(); i-- > 0;)  // backwards: of equal entries the trie keeps the last
    entries.emplace_back(tokens[i].content, static_cast<std::int32_t>(i));
  return ByteTrie(std::move(entries));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(const CharacterTable& table, std::vector<AddedToken> tokens)
    : table_(table), tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  trie_ = make_trie(tokens_);
  for (const AddedToken& token : tokens_) starts_token_[static_cast<unsigned char>(token.content[0])] = true;
}

std::optional<AddedTokenFinder::Found> AddedTokenFinder::find(std::string_view text, std::size_t& from,
                                                              std::size_t done) const {
  for (; from < text.size(); ++from) {
    if (!starts_token_[static_cast<unsigned char>(text[from])]) continue;
    const ByteTrie::Match match = trie_.longest_match(trie_.root(), text.substr(from));
    if (match.value < 0) continue;
    const AddedToken& token = tokens_[static_cast<std::size_t>(match.value)];
    std::size_t begin = from;
    std::size_t end = from + match.length;
    from = end;
    if (token.single_word && !stands_alone(text, begin, end)) {
      --from;  // the loop steps on; a refused token still hides those inside it
      continue;
    }
    if (token.lstrip) {
      while (begin > 0 && (bits_before(text, begin) & kSpace)) begin = previous_character(text, begin);
      begin = std::max(begin, done);
    }
    if (token.rstrip)
      while (end < text.size() && (bits_at(text, end) & kSpace)) core::next_code_point(text, end);
    return Found{begin, end, token.id};
  }
  return std::nullopt;
}

bool AddedTokenFinder::stands_alone(std::string_view text, std::size_t begin, std::size_t end) const {
  const bool touched_before = begin > 0 && (bits_before(text, begin) & kWordPart);
  const bool touched_behind = end < text.size() && (bits_at(text, end) & kWordPart);
  return !touched_before && !touched_behind;
}

std::uint8_t AddedTokenFinder::bits_before(std::string_view text, std::size_t position) const {
  return bits_at(text, previous_character(text, position));
}

std::uint8_t AddedTokenFinder::bits_at(std::string_view text, std::size_t position) const {
  return table_.bits(core::next_code_point(text, position));
}

}  // namespace ranktune::text
