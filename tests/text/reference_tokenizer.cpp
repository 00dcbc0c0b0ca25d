#include "text/reference_tokenizer.h"

#include <algorithm>
#include <utility>

#include "ranktune/core/utf8.h"

namespace ranktune::tests {

std::u32string decode_utf8(std::string_view text) {
  std::u32string code_points;
  for (std::size_t position = 0; position < text.size();)
    code_points += core::next_code_point(text, position);
  return code_points;
}

std::string encode_utf8(const std::u32string& text) {
  std::string bytes;
  for (const char32_t c : text) core::append_utf8(bytes, c);
  return bytes;
}

ReferenceTokenizer::ReferenceTokenizer(const text::Vocabulary& vocabulary,
                                       const text::WordPieceOptions& wordpiece,
                                       const text::BertNormalizerOptions& normalizer)
    : wordpiece_(wordpiece), normalizer_(normalizer) {
  for (const auto& [token, id] : vocabulary) vocabulary_[token] = id;
}

std::vector<std::int32_t> ReferenceTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  for (const std::u32string& word : split(normalize(decode_utf8(text)))) {
    const std::vector<std::int32_t> pieces = cut(word);
    ids.insert(ids.end(), pieces.begin(), pieces.end());
  }
  return ids;
}

std::u32string ReferenceTokenizer::normalize(std::u32string text) const {
  if (normalizer_.clean_text) {
    std::erase_if(text, [&](char32_t c) { return (table_.bits(c) & text::kRemoved) != 0; });
    std::ranges::replace_if(
        text, [&](char32_t c) { return (table_.bits(c) & text::kSpace) != 0; }, U' ');
  }
  if (normalizer_.handle_chinese_chars) {
    std::u32string spaced;
    for (const char32_t c : text)
      spaced += table_.bits(c) & text::kCjk ? std::u32string{U' ', c, U' '} : std::u32string{c};
    text = spaced;
  }
  if (normalizer_.strip_accents.value_or(normalizer_.lowercase)) text = strip_accents(text);
  if (!normalizer_.lowercase) return text;
  std::u32string lowered;
  for (const char32_t c : text) {
    const bool changes = (table_.bits(c) & text::kLowerChanges) != 0;
    const text::Mapped lower = changes ? text::CharacterTable::lower(c) : text::Mapped{{c}, 1};
    lowered.append(lower.code_points.data(), lower.size);
  }
  return lowered;
}

std::u32string ReferenceTokenizer::strip_accents(const std::u32string& text) const {
  struct Part {
    char32_t code_point;
    std::uint8_t order;  // 0: stands where it is
    bool kept;
  };
  std::vector<Part> parts;
  for (const char32_t c : text) {
    const std::uint8_t bits = table_.bits(c);
    if (!(bits & text::kMoving)) parts.push_back({c, 0, false});  // a border, whatever is left of c
    const text::Mapped kept =
        bits & text::kStripChanges ? text::CharacterTable::strip(c) : text::Mapped{{c}, 1};
    for (std::size_t i = 0; i < kept.size; ++i)
      parts.push_back({kept.code_points[i], text::CharacterTable::order(kept.code_points[i]), true});
  }
  for (bool moved = true;
       moved;) {  // canonical order as the standard defines it: swap neighbours till none is left
    moved = false;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].order == 0 || parts[i - 1].order <= parts[i].order) continue;
      std::swap(parts[i - 1], parts[i]);
      moved = true;
    }
  }
  std::u32string result;
  for (const Part& part : parts)
    if (part.kept) result += part.code_point;
  return result;
}

std::vector<std::u32string> ReferenceTokenizer::split(const std::u32string& text) const {
  std::vector<std::u32string> words(1);
  for (const char32_t c : text) {
    const std::uint8_t bits = table_.bits(c);
    if (bits & text::kSpace) {
      words.emplace_back();
    } else if (bits & text::kPunctuation) {
      words.emplace_back(1, c);
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, U"");
  return words;
}

std::vector<std::int32_t> ReferenceTokenizer::cut(const std::u32string& word) const {
  const std::vector<std::int32_t> unknown{vocabulary_.at(wordpiece_.unk_token)};
  if (word.size() > static_cast<std::size_t>(wordpiece_.max_input_chars_per_word)) return unknown;
  std::vector<std::int32_t> ids;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = word.size();
    const std::string prefix = begin > 0 ? wordpiece_.continuing_subword_prefix : "";
    while (end > begin && !vocabulary_.contains(prefix + encode_utf8(word.substr(begin, end - begin)))) --end;
    if (end == begin) return unknown;
    ids.push_back(vocabulary_.at(prefix + encode_utf8(word.substr(begin, end - begin))));
    begin = end;
  }
  return ids;
}

}  // namespace ranktune::tests
