#include "ranktune/data/tokenized_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ranktune/core/error.h"

namespace ranktune::data {
namespace {

/// Rows that one thread encodes at a time: long enough to hide the hand-over, short enough to share the end
/// evenly.
constexpr std::int64_t kBlockRows = 128;

struct Block {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> type_ids;
  std::vector<std::int64_t> lengths;
};

class Job {
 public:
  Job(const text::Tokenizer& tokenizer, std::span<const std::string_view> first,
      std::span<const std::string_view> second, const TokenizeOptions& options)
      : tokenizer_(tokenizer), first_(first), second_(second), options_(options) {
    blocks_.resize((first.size() + kBlockRows - 1) / kBlockRows);
  }

  TokenizedSplit run() {
    std::vector<std::future<void>>
        helpers;  // their destructors wait, also when this thread leaves by an exception
    for (std::int64_t i = 1; i < thread_count(); ++i)
      helpers.push_back(std::async(std::launch::async, [this] { work(false); }));
    work(true);
    for (std::future<void>& helper : helpers) helper.get();
    if (options_.progress) options_.progress(total(), total());
    return gather();
  }

 private:
  std::int64_t total() const { return static_cast<std::int64_t>(first_.size()); }

  std::int64_t thread_count() const {
    const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::int64_t wanted = options_.threads > 0 ? options_.threads : cores;
    return std::clamp<std::int64_t>(wanted, 1,
                                    std::max<std::int64_t>(1, static_cast<std::int64_t>(blocks_.size())));
  }

  void work(bool report) {
    text::Encoding encoding;
    for (std::size_t index = next_++; index < blocks_.size(); index = next_++) {
      encode(index, encoding);
      if (report && options_.progress) options_.progress(std::min(done_.load(), total()), total());
    }
  }

  void encode(std::size_t index, text::Encoding& encoding) {
    Block& block = blocks_[index];
    const std::size_t begin = index * kBlockRows;
    const std::size_t end = std::min(begin + kBlockRows, first_.size());
    for (std::size_t row = begin; row < end; ++row) {
      const auto pair = second_.empty() ? std::nullopt : std::optional<std::string_view>(second_[row]);
      tokenizer_.encode(first_[row], pair, options_.max_length, encoding);
      block.ids.insert(block.ids.end(), encoding.ids.begin(), encoding.ids.end());
      for (const std::int32_t type : encoding.type_ids)
        block.type_ids.push_back(static_cast<std::uint8_t>(type));
      block.lengths.push_back(static_cast<std::int64_t>(encoding.ids.size()));
    }
    done_ += static_cast<std::int64_t>(end - begin);
  }

  TokenizedSplit gather() {
    TokenizedSplit out;
    out.offsets.reserve(first_.size() + 1);
    out.offsets.push_back(0);
    for (const Block& block : blocks_)
      for (const std::int64_t length : block.lengths) out.offsets.push_back(out.offsets.back() + length);
    out.ids.reserve(out.tokens());
    out.type_ids.reserve(out.tokens());
    for (Block& block : blocks_) {
      out.ids.insert(out.ids.end(), block.ids.begin(), block.ids.end());
      out.type_ids.insert(out.type_ids.end(), block.type_ids.begin(), block.type_ids.end());
      block = {};
    }
    return out;
  }

  const text::Tokenizer& tokenizer_;
  std::span<const std::string_view> first_;
  std::span<const std::string_view> second_;
  const TokenizeOptions& options_;
  std::vector<Block> blocks_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::int64_t> done_{0};
};

}  // namespace

std::span<const std::int32_t> TokenizedSplit::row_ids(std::int64_t row) const {
  return std::span(ids).subspan(offsets[row], offsets[row + 1] - offsets[row]);
}

std::span<const std::uint8_t> TokenizedSplit::row_type_ids(std::int64_t row) const {
  return std::span(type_ids).subspan(offsets[row], offsets[row + 1] - offsets[row]);
}

std::vector<std::int64_t> TokenizedSplit::lengths() const {
  std::vector<std::int64_t> out(offsets.size() - 1);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = offsets[i + 1] - offsets[i];
  return out;
}

TokenizedSplit tokenize_split(const text::Tokenizer& tokenizer, std::span<const std::string_view> first,
                              std::span<const std::string_view> second, const TokenizeOptions& options) {
  if (!second.empty() && second.size() != first.size())
    throw std::invalid_argument("tokenize_split: each row needs a second text, or none");
  const std::int64_t special_tokens = second.empty() ? 2 : 3;
  if (options.max_length <= special_tokens)
    throw UsageError(
        fmt::format("--max_seq_length {} leaves no room for text beside {} special tokens: use 128, say",
                    options.max_length, special_tokens));
  return Job(tokenizer, first, second, options).run();
}

}  // namespace ranktune::data
