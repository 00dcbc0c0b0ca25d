#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ranktune/text/tokenizer.h"
#include "support/temporary_folder.h"

namespace ranktune::tests {

/// A tokenizer.json of the kind that BERT models have, over a few tokens numbered in their order:
/// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, then `tokens`.
inline nlohmann::json small_tokenizer_json(const std::vector<std::string>& tokens) {
  using nlohmann::json;
  json vocabulary;
  json added = json::array();
  for (const std::string special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) {
    const std::size_t id = vocabulary.size();
    vocabulary[special] = id;
    added.push_back({{"id", id},
                     {"content", special},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  for (const std::string& token : tokens) {
    const std::size_t id = vocabulary.size();
    vocabulary[token] = id;
  }
  const auto special = [](const char* token, int type) {
    return json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  const auto sequence = [](const char* name, int type) {
    return json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  const json post_processor = {
      {"type", "TemplateProcessing"},
      {"single", {special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)}},
      {"pair",
       {special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)}},
      {"special_tokens",
       {{"[CLS]", {{"id", "[CLS]"}, {"ids", {2}}, {"tokens", {"[CLS]"}}}},
        {"[SEP]", {{"id", "[SEP]"}, {"ids", {3}}, {"tokens", {"[SEP]"}}}}}}};
  return {{"version", "1.0"},
          {"truncation", {{"max_length", 3}, {"strategy", "LongestFirst"}, {"stride", 0}}},
          {"padding", {{"strategy", {{"Fixed", 128}}}, {"pad_id", 0}}},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", post_processor},
          {"decoder", {{"type", "WordPiece"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

inline std::unique_ptr<text::Tokenizer> load(const nlohmann::json& tokenizer_json) {
  const TemporaryFolder folder;
  folder.file("tokenizer.json", tokenizer_json.dump());
  return text::load_tokenizer(folder.path());
}

using Ids = std::vector<std::int32_t>;

inline text::Encoding encode(const text::Tokenizer& tokenizer, std::string_view text,
                             std::optional<std::string_view> pair = std::nullopt,
                             std::int64_t max_length = 1000) {
  text::Encoding encoding{{7}, {7}};  // left-overs that encode must replace
  tokenizer.encode(text, pair, max_length, encoding);
  return encoding;
}

/// The ids without the first and the last, which are [CLS] and [SEP].
inline Ids inner_ids(const text::Tokenizer& tokenizer, std::string_view text) {
  const Ids ids = encode(tokenizer, text).ids;
  return {ids.begin() + 1, ids.end() - 1};
}

}  // namespace ranktune::tests
