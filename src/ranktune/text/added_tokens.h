#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/utf8.h"
#include "ranktune/text/byte_trie.h"
#include "ranktune/text/character_table.h"

namespace ranktune::text {

/// An entry of tokenizer.json's added_tokens: found in the text as it stands, before words are cut.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  ///< only where no word character touches it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space behind it
  bool normalized = false;   ///< looked for in the normalized text, in its own normalized form
};

/// Finds a set of added tokens: leftmost first, of those the longest.
class AddedTokenFinder {
 public:
  /// Of tokens with equal content the first counts; empty content is never found.
  /// LIFETIME: `table` must outlive this object.
  AddedTokenFinder(const CharacterTable& table, std::vector<AddedToken> tokens);

  bool empty() const noexcept { return tokens_.empty(); }

  /// Calls visit_text(piece) for the pieces between tokens, none of them empty, and visit_token(id) for the
  /// tokens, in order. REQUIRES: well-formed UTF-8.
  template <class VisitText, class VisitToken>
  void split(std::string_view text, VisitText&& visit_text, VisitToken&& visit_token) const {
    std::size_t done = 0;
    std::size_t from = 0;
    while (const std::optional<Found> found = find(text, from, done)) {
      if (found->begin > done) visit_text(text.substr(done, found->begin - done));
      visit_token(found->id);
      done = found->end;
    }
    if (done < text.size()) visit_text(text.substr(done));
  }

 private:
  struct Found {
    std::size_t begin, end;  // with the white space that the token takes
    std::int32_t id;
  };

  /// The next token that starts at `from` or later. Moves `from` behind it, its white space not counted: the
  /// next token may begin with that same space. `done` is where the last one ended with its white space.
  std::optional<Found> find(std::string_view text, std::size_t& from, std::size_t done) const;
  bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) const;
  std::uint8_t bits_before(std::string_view text, std::size_t position) const;
  std::uint8_t bits_at(std::string_view text, std::size_t position) const;

  const CharacterTable& table_;
  std::vector<AddedToken> tokens_;
  ByteTrie trie_;  // values are places in tokens_
  std::array<bool, 256> starts_token_{};
};

}  // namespace ranktune::text
