#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/text/bert_tokenizer.h"
#include "ranktune/text/json_fields.h"

namespace ranktune::text {

/// What tokenizer_config.json says; the defaults are those of an absent file.
struct TokenizerConfig {
  BertNormalizerOptions normalizer;
  std::string unk_token = "[UNK]", cls_token = "[CLS]", sep_token = "[SEP]", pad_token = "[PAD]",
              mask_token = "[MASK]";
  std::vector<AddedToken> added_tokens;  ///< added_tokens_decoder, ids included
  TruncationSide truncation_side = TruncationSide::kRight;
  std::optional<std::int64_t> model_max_length;  ///< absent also for the huge number that stands for "none"
};

/// Reads tokenizer_config.json of a folder; an absent file is one without entries.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

/// Reads content and flags of an added token; its id is left to the caller.
AddedToken read_added_token(const JsonFields& fields);

/// Reads tokenizer.json. Of the config only truncation_side and model_max_length count.
BertTokenizerParts read_tokenizer_json(const std::filesystem::path& file, const TokenizerConfig& config);

/// Reads vocab.txt: one token a line, numbered from 0.
BertTokenizerParts read_vocabulary_file(const std::filesystem::path& file, const TokenizerConfig& config);

}  // namespace ranktune::text
