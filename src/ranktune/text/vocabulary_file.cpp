#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ranktune/core/files.h"
#include "ranktune/core/utf8.h"
#include "ranktune/text/tokenizer_files.h"

namespace ranktune::text {
namespace {

Vocabulary read_lines(const std::string& text, const std::string& file) {
  Vocabulary vocabulary;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = std::string_view(text).substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto number = static_cast<std::int32_t>(vocabulary.size());
    const std::size_t invalid = core::find_invalid_utf8(line);
    if (invalid != std::string_view::npos)
      throw DataError({file, number + 1, static_cast<std::int64_t>(invalid) + 1},
                      "not UTF-8 text: is this the vocabulary of a BERT model?");
    vocabulary.emplace_back(line, number);
    start = end + 1;
  }
  return vocabulary;
}

}  // namespace

BertTokenizerParts read_vocabulary_file(const std::filesystem::path& path, const TokenizerConfig& config) {
  const std::string file = path.string();
  BertTokenizerParts parts;
  parts.vocabulary = read_lines(core::read_file(path), file);
  std::unordered_map<std::string_view, std::int32_t> ids;
  for (const auto& [token, id] : parts.vocabulary) ids[token] = id;
  const auto require = [&](const std::string& token) {
    const auto entry = ids.find(token);
    if (entry == ids.end())
      throw DataError(
          {file},
          fmt::format("the vocabulary has no line {}: is this the vocabulary of a BERT model?", token));
    return entry->second;
  };
  require(config.unk_token);
  parts.post_processor = bert_post_processor(require(config.cls_token), require(config.sep_token));
  parts.added_tokens = config.added_tokens;
  for (const std::string* name :
       {&config.unk_token, &config.sep_token, &config.pad_token, &config.cls_token, &config.mask_token}) {
    const bool known =
        std::ranges::find(parts.added_tokens, *name, &AddedToken::content) != parts.added_tokens.end();
    if (known || !ids.contains(*name)) continue;
    AddedToken token;
    token.content = *name;
    token.id = ids.at(*name);
    parts.added_tokens.push_back(std::move(token));
  }
  parts.wordpiece.unk_token = config.unk_token;
  parts.normalizer = config.normalizer;
  parts.truncation_side = config.truncation_side;
  parts.model_max_length = config.model_max_length;
  return parts;
}

}  // namespace ranktune::text
