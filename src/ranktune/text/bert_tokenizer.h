#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ranktune/text/added_tokens.h"
#include "ranktune/text/bert_normalizer.h"
#include "ranktune/text/character_table.h"
#include "ranktune/text/post_processor.h"
#include "ranktune/text/tokenizer.h"
#include "ranktune/text/word_splitter.h"
#include "ranktune/text/wordpiece.h"

namespace ranktune::text {

/// All that the files of a BERT tokenizer say. REQUIRES: the vocabulary holds wordpiece.unk_token.
struct BertTokenizerParts {
  Vocabulary vocabulary;
  WordPieceOptions wordpiece;
  BertNormalizerOptions normalizer;
  std::vector<AddedToken> added_tokens;
  PostProcessor post_processor;
  TruncationSide truncation_side = TruncationSide::kRight;
  std::optional<std::int64_t> model_max_length;
};

/// BERT's chain: added tokens out of the text, the rest normalized, added tokens out of that, words, pieces.
class BertTokenizer final : public Tokenizer {
 public:
  explicit BertTokenizer(const BertTokenizerParts& parts);
  BertTokenizer(const BertTokenizer&) = delete;  // parts of it hold references to its table
  BertTokenizer& operator=(const BertTokenizer&) = delete;

  void encode(std::string_view text, std::optional<std::string_view> pair, std::int64_t max_length,
              Encoding& out) const override;
  std::int64_t vocab_size() const override { return vocab_size_; }
  std::optional<std::int64_t> model_max_length() const override { return model_max_length_; }

 private:
  /// Appends the ids of `text`; may stop once there are `enough` of them.
  void append_ids(std::string_view text, std::size_t enough, std::vector<std::int32_t>& ids) const;
  void append_normalized_ids(std::string_view normalized, std::size_t enough,
                             std::vector<std::int32_t>& ids) const;

  CharacterTable table_;
  BertNormalizer normalizer_;
  WordSplitter splitter_;
  WordPiece wordpiece_;
  AddedTokenFinder raw_tokens_;         // looked for in the text as it is
  AddedTokenFinder normalized_tokens_;  // looked for behind the normalizer
  PostProcessor post_processor_;
  TruncationSide truncation_side_;
  std::optional<std::int64_t> model_max_length_;
  std::int64_t vocab_size_ = 0;
};

}  // namespace ranktune::text
