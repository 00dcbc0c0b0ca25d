#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ranktune/core/json.h"
#include "ranktune/text/tokenizer_files.h"

namespace ranktune::text {
namespace {

using nlohmann::json;

/// Early versions of the format did not name the kind.
std::string model_kind(const JsonFields& model) {
  if (model.find("type")) return model.string("type");
  if (model.find("continuing_subword_prefix") && !model.find("merges")) return "WordPiece";
  return model.find("merges") ? "BPE" : "Unigram";
}

void require_kind(const JsonFields& part, const std::string& kind, std::string_view needed) {
  if (kind == needed) return;
  part.fail("type", fmt::format("is '{}', and only '{}' can be read: ranktune needs a BERT tokenizer here",
                                kind, needed));
}

Vocabulary read_vocabulary(const JsonFields& model) {
  const JsonFields entries = model.require_object("vocab");
  Vocabulary vocabulary;
  vocabulary.reserve(entries.object().size());
  for (const auto& [token, id] : entries.object().items())
    vocabulary.emplace_back(token, entries.as_number(id, token));
  return vocabulary;
}

BertNormalizerOptions read_normalizer(const JsonFields& file) {
  if (!file.find("normalizer")) return {false, false, false, false};
  const JsonFields fields = file.require_object("normalizer");
  require_kind(fields, fields.string("type"), "BertNormalizer");
  BertNormalizerOptions options;
  options.clean_text = fields.boolean("clean_text", true);
  options.handle_chinese_chars = fields.boolean("handle_chinese_chars", true);
  options.lowercase = fields.boolean("lowercase", true);
  if (fields.find("strip_accents")) options.strip_accents = fields.boolean("strip_accents", false);
  return options;
}

/// Ids by token. An added token that the vocabulary lacks gets the next free id, whatever id the file gives
/// it: that is what the `tokenizers` package does.
using Ids = std::unordered_map<std::string, std::int32_t>;

std::vector<AddedToken> read_added_tokens(const JsonFields& file, Ids& ids) {
  std::vector<AddedToken> tokens;
  const auto* list = file.find("added_tokens");
  if (!list) return tokens;
  if (!list->is_array()) file.fail("added_tokens", "must be a list");
  const auto vocabulary_size = static_cast<std::int32_t>(ids.size());
  std::int32_t next_id = vocabulary_size;
  for (std::size_t i = 0; i < list->size(); ++i) {
    AddedToken token = read_added_token({(*list)[i], file.file(), fmt::format("added_tokens[{}]", i)});
    if (token.content.empty()) continue;
    const auto [entry, is_new] = ids.try_emplace(token.content, next_id);
    token.id = entry->second;
    next_id = std::max(next_id, token.id + 1);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

void require_token(const JsonFields& part, const Ids& ids, const std::string& token, std::string_view user) {
  if (!ids.contains(token))
    throw DataError({part.file()},
                    fmt::format("the vocabulary has no {}, which {} names: use the tokenizer files "
                                "that belong to the model",
                                token, user));
}

TemplatePiece read_piece(const JsonFields& piece, const JsonFields& specials, const Ids& ids) {
  if (piece.find("Sequence")) {
    const JsonFields fields = piece.require_object("Sequence");
    const std::string id = fields.string("id");
    if (id != "A" && id != "B") fields.fail("id", "must be \"A\" or \"B\"");
    return {id == "A" ? TemplatePiece::Kind::kFirst : TemplatePiece::Kind::kSecond,
            {},
            fields.number("type_id", 0)};
  }
  const JsonFields fields = piece.require_object("SpecialToken");
  const std::string token = fields.string("id");
  require_token(piece, ids, token, "post_processor");
  TemplatePiece result{TemplatePiece::Kind::kSpecial, {}, fields.number("type_id", 0)};
  const JsonFields special = specials.require_object(token);
  const json& token_ids = special.require("ids");
  if (!token_ids.is_array()) special.fail("ids", "must be a list");
  for (const json& id : token_ids) result.special_ids.push_back(special.as_number(id, "ids"));
  return result;
}

Template read_template(const JsonFields& processor, const std::string& key, const Ids& ids) {
  const json& list = processor.require(key);
  if (!list.is_array()) processor.fail(key, "must be a list");
  const JsonFields specials = processor.require_object("special_tokens");
  Template layout;
  for (std::size_t i = 0; i < list.size(); ++i)
    layout.push_back(
        read_piece({list[i], processor.file(), fmt::format("post_processor.{}[{}]", key, i)}, specials, ids));
  const auto uses = [&layout](TemplatePiece::Kind kind) {
    return std::ranges::count(layout, kind, &TemplatePiece::kind) == 1;
  };
  if (!uses(TemplatePiece::Kind::kFirst)) processor.fail(key, "must hold sequence A once");
  if (key == "pair" && !uses(TemplatePiece::Kind::kSecond)) processor.fail(key, "must hold sequence B once");
  return layout;
}

/// ["[SEP]", 102]
std::int32_t read_token_and_id(const JsonFields& processor, const std::string& key, const Ids& ids) {
  const json& entry = processor.require(key);
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string())
    processor.fail(key, "must be a token and its id");
  require_token(processor, ids, entry[0].get<std::string>(), "post_processor");
  return processor.as_number(entry[1], key);
}

PostProcessor read_post_processor(const JsonFields& file, const Ids& ids) {
  if (!file.find("post_processor")) {
    const TemplatePiece first{TemplatePiece::Kind::kFirst, {}, 0};
    return {{first}, {first, {TemplatePiece::Kind::kSecond, {}, 1}}};
  }
  const JsonFields processor = file.require_object("post_processor");
  const std::string kind = processor.string("type");
  if (kind == "BertProcessing")
    return bert_post_processor(read_token_and_id(processor, "cls", ids),
                               read_token_and_id(processor, "sep", ids));
  require_kind(processor, kind, "TemplateProcessing");
  return {read_template(processor, "single", ids), read_template(processor, "pair", ids)};
}

}  // namespace

BertTokenizerParts read_tokenizer_json(const std::filesystem::path& path, const TokenizerConfig& config) {
  const json content = core::read_json_file(path);
  const JsonFields file(content, path.string(), "");
  const JsonFields model = file.require_object("model");
  require_kind(model, model_kind(model), "WordPiece");
  const JsonFields pre_tokenizer = file.require_object("pre_tokenizer");
  require_kind(pre_tokenizer, pre_tokenizer.string("type"), "BertPreTokenizer");

  BertTokenizerParts parts;
  parts.vocabulary = read_vocabulary(model);
  parts.wordpiece.unk_token = model.string("unk_token", "[UNK]");
  parts.wordpiece.continuing_subword_prefix = model.string("continuing_subword_prefix", "##");
  parts.wordpiece.max_input_chars_per_word = model.number("max_input_chars_per_word", 100);
  parts.normalizer = read_normalizer(file);
  Ids ids(parts.vocabulary.begin(), parts.vocabulary.end());
  require_token(model, ids, parts.wordpiece.unk_token, "model.unk_token");
  parts.added_tokens = read_added_tokens(file, ids);
  parts.post_processor = read_post_processor(file, ids);
  parts.truncation_side = config.truncation_side;
  parts.model_max_length = config.model_max_length;
  return parts;
}

}  // namespace ranktune::text
