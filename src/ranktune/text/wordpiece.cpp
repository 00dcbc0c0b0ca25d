#include "ranktune/text/wordpiece.h"

#include <algorithm>

namespace ranktune::text {

WordPiece::WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options)
    : trie_(std::vector<std::pair<std::string_view, std::int32_t>>(vocabulary.begin(), vocabulary.end())),
      continuation_(trie_.descend(options.continuing_subword_prefix)),
      max_characters_(static_cast<std::size_t>(options.max_input_chars_per_word)) {
  for (const auto& [token, id] : vocabulary)
    if (token == options.unk_token) unk_id_ = id;
}

void WordPiece::append_ids(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t old_size = ids.size();
  ByteTrie::Match match;
  if (!is_too_long(word)) match = trie_.longest_match(trie_.root(), word);
  while (match.value >= 0) {
    ids.push_back(match.value);
    word.remove_prefix(match.length);
    if (word.empty()) return;
    match = continuation_ ? trie_.longest_match(*continuation_, word) : ByteTrie::Match{};
  }
  ids.resize(old_size);
  ids.push_back(unk_id_);
}

bool WordPiece::is_too_long(std::string_view word) const noexcept {
  if (word.size() <= max_characters_) return false;
  const auto starts_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(word, starts_character)) > max_characters_;
}

}  // namespace ranktune::text
