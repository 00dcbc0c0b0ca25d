#include "ranktune/text/bert_tokenizer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace ranktune::text {
namespace {

std::vector<AddedToken> raw_tokens(const std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> chosen;
  std::ranges::copy_if(tokens, std::back_inserter(chosen), [](const AddedToken& t) { return !t.normalized; });
  return chosen;
}

std::vector<AddedToken> normalized_tokens(const std::vector<AddedToken>& tokens,
                                          const BertNormalizer& normalizer) {
  std::vector<AddedToken> chosen;
  for (const AddedToken& token : tokens) {
    if (!token.normalized) continue;
    chosen.push_back(token);
    chosen.back().content.clear();
    normalizer.normalize(token.content, chosen.back().content);
  }
  return chosen;
}

std::int64_t one_past_highest_id(const BertTokenizerParts& parts) {
  std::int64_t size = 0;
  const auto see = [&size](std::int64_t id) { size = std::max(size, id + 1); };
  for (const auto& entry : parts.vocabulary) see(entry.second);
  for (const AddedToken& token : parts.added_tokens) see(token.id);
  for (const Template* layout : {&parts.post_processor.single, &parts.post_processor.pair})
    for (const TemplatePiece& piece : *layout) std::ranges::for_each(piece.special_ids, see);
  return size;
}

}  // namespace

BertTokenizer::BertTokenizer(const BertTokenizerParts& parts)
    : normalizer_(table_, parts.normalizer),
      splitter_(table_),
      wordpiece_(parts.vocabulary, parts.wordpiece),
      raw_tokens_(table_, raw_tokens(parts.added_tokens)),
      normalized_tokens_(table_, normalized_tokens(parts.added_tokens, normalizer_)),
      post_processor_(parts.post_processor),
      truncation_side_(parts.truncation_side),
      model_max_length_(parts.model_max_length),
      vocab_size_(one_past_highest_id(parts)) {}

void BertTokenizer::encode(std::string_view text, std::optional<std::string_view> pair,
                           std::int64_t max_length, Encoding& out) const {
  const Template& layout = pair ? post_processor_.pair : post_processor_.single;
  const auto room = max_length - static_cast<std::int64_t>(count_special(layout));
  const auto budget = static_cast<std::size_t>(std::max<std::int64_t>(room, 0));
  // How a pair is cut depends on its full lengths, and the left end is known only when all of it is.
  const bool may_stop = !pair && truncation_side_ == TruncationSide::kRight;
  const std::size_t enough = may_stop ? budget : std::numeric_limits<std::size_t>::max();

  std::vector<std::int32_t> first, second;
  first.reserve(std::min(enough, text.size() / 4 + 8));
  append_ids(text, enough, first);
  if (pair) append_ids(*pair, enough, second);
  if (pair)
    truncate_pair(first, second, budget, truncation_side_);
  else
    truncate(first, budget, truncation_side_);
  apply_template(layout, first, second, out);
}

void BertTokenizer::append_ids(std::string_view text, std::size_t enough,
                               std::vector<std::int32_t>& ids) const {
  std::string normalized;
  raw_tokens_.split(
      text,
      [&](std::string_view piece) {
        if (ids.size() >= enough) return;
        normalized.clear();
        normalizer_.normalize(piece, normalized);
        append_normalized_ids(normalized, enough, ids);
      },
      [&](std::int32_t id) { ids.push_back(id); });
}

void BertTokenizer::append_normalized_ids(std::string_view normalized, std::size_t enough,
                                          std::vector<std::int32_t>& ids) const {
  const auto append_words = [&](std::string_view piece) {
    splitter_.split(piece, [&](std::string_view word) {
      wordpiece_.append_ids(word, ids);
      return ids.size() < enough;
    });
  };
  if (normalized_tokens_.empty()) return append_words(normalized);
  normalized_tokens_.split(normalized, append_words, [&](std::int32_t id) { ids.push_back(id); });
}

}  // namespace ranktune::text
