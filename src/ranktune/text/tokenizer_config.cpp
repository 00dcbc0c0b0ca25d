#include <charconv>

#include "ranktune/core/json.h"
#include "ranktune/text/tokenizer_files.h"

namespace ranktune::text {
namespace {

/// "[CLS]" or {"content": "[CLS]", ...}.
void read_name(const JsonFields& fields, const std::string& key, std::string& name) {
  const auto* member = fields.find(key);
  if (!member) return;
  name = member->is_object() ? fields.require_object(key).string("content") : fields.string(key);
}

std::vector<AddedToken> read_decoder(const JsonFields& fields) {
  std::vector<AddedToken> tokens;
  if (!fields.find("added_tokens_decoder")) return tokens;
  const JsonFields decoder = fields.require_object("added_tokens_decoder");
  for (const auto& [key, value] : decoder.object().items()) {
    AddedToken token = read_added_token(decoder.require_object(key));
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size() || token.id < 0)
      decoder.fail(key, "must have a token id as its key");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

TruncationSide read_truncation_side(const JsonFields& fields) {
  const std::string side = fields.string("truncation_side", "right");
  if (side == "left") return TruncationSide::kLeft;
  if (side != "right") fields.fail("truncation_side", "must be \"right\" or \"left\"");
  return TruncationSide::kRight;
}

std::optional<std::int64_t> read_model_max_length(const JsonFields& fields) {
  const auto* member = fields.find("model_max_length");
  if (!member) return std::nullopt;
  if (!member->is_number() || member->get<double>() < 1)
    fields.fail("model_max_length", "must be a number above 0");
  constexpr double kNone = 1e9;  // Hugging Face writes 1e30 for "no limit known"
  if (member->get<double>() >= kNone) return std::nullopt;
  return member->get<std::int64_t>();
}

}  // namespace

AddedToken read_added_token(const JsonFields& fields) {
  AddedToken token;
  token.content = fields.string("content");
  token.single_word = fields.boolean("single_word", false);
  token.lstrip = fields.boolean("lstrip", false);
  token.rstrip = fields.boolean("rstrip", false);
  token.normalized = fields.boolean("normalized", !fields.boolean("special", false));
  return token;
}

TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder) {
  TokenizerConfig config;
  const std::filesystem::path file = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(file)) return config;
  const nlohmann::json content = core::read_json_file(file);
  const JsonFields fields(content, file.string(), "");
  config.normalizer.lowercase = fields.boolean("do_lower_case", true);
  config.normalizer.handle_chinese_chars = fields.boolean("tokenize_chinese_chars", true);
  if (fields.find("strip_accents")) config.normalizer.strip_accents = fields.boolean("strip_accents", false);
  read_name(fields, "unk_token", config.unk_token);
  read_name(fields, "cls_token", config.cls_token);
  read_name(fields, "sep_token", config.sep_token);
  read_name(fields, "pad_token", config.pad_token);
  read_name(fields, "mask_token", config.mask_token);
  config.added_tokens = read_decoder(fields);
  config.truncation_side = read_truncation_side(fields);
  config.model_max_length = read_model_max_length(fields);
  return config;
}

}  // namespace ranktune::text
