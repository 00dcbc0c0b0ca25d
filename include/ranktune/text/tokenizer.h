#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace ranktune::text {

/// One row as the model sees it: token ids and segment ids of equal length, special tokens included, no
/// padding.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
};

/// Text to token ids, exactly as the `tokenizers` package does it. THREAD SAFETY: const members may be called
/// from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Replaces the content of `out`. A pair is truncated longest first, so that at most `max_length` ids come
  /// out. REQUIRES: well-formed UTF-8; max_length at least the number of special tokens (2, with a pair 3).
  virtual void encode(std::string_view text, std::optional<std::string_view> pair, std::int64_t max_length,
                      Encoding& out) const = 0;

  /// One more than the highest id that encode can give: the embedding needs at least as many rows.
  virtual std::int64_t vocab_size() const = 0;

  /// The longest input that the tokenizer's files allow; absent when they name none.
  virtual std::optional<std::int64_t> model_max_length() const = 0;
};

/// Reads the tokenizer of a model folder: tokenizer.json, or else vocab.txt, with tokenizer_config.json
/// beside it. Padding and truncation that tokenizer.json carries are not obeyed: they are left-overs of its
/// last use. THROWS: DataError with file, line and column for damaged or unsupported files.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace ranktune::text
