#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranktune/text/byte_trie.h"

namespace ranktune::text {

/// The fields of tokenizer.json's WordPiece model.
struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::int64_t max_input_chars_per_word = 100;  ///< longer words become unk_token
};

/// Tokens with their ids. Of equal tokens the last one counts.
using Vocabulary = std::vector<std::pair<std::string, std::int32_t>>;

/// Cuts a word into the longest pieces that the vocabulary has, from left to right; a word that does not come
/// out even is unk_token as a whole.
class WordPiece {
 public:
  /// REQUIRES: the vocabulary holds unk_token; ids >= 0.
  WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options);

  /// Appends the ids of one word. REQUIRES: a word without white space, well-formed UTF-8, not empty.
  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  bool is_too_long(std::string_view word) const noexcept;

  ByteTrie trie_;
  std::optional<ByteTrie::State> continuation_;  // behind the prefix; absent: no token starts with it
  std::int32_t unk_id_ = 0;
  std::size_t max_characters_;
};

}  // namespace ranktune::text
