#include "ranktune/launch/stream_choice.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "ranktune/core/error.h"
#include "ranktune/launch/option_text.h"

namespace ranktune::launch {
namespace {

std::set<std::int64_t> read_filter(const std::string& text, std::int64_t workers) {
  std::set<std::int64_t> ranks;
  for (const std::string& word : split(text, ',')) {
    const std::optional<std::int64_t> rank = whole_number(word);
    if (!rank || *rank < 0 || *rank >= workers)
      throw UsageError("--local_ranks_filter " + text + ": local ranks here are 0 to " +
                       std::to_string(workers - 1) + ", with commas between them");
    ranks.insert(*rank);
  }
  return ranks;
}

}  // namespace

std::vector<StreamBits> read_stream_choice(const std::string& flag, const std::string& text,
                                           std::int64_t workers) {
  const auto refuse = [&] {
    throw UsageError(flag + " " + text +
                     ": it must be 0 (none), 1 (standard output), 2 (standard error) or 3 (both), " +
                     "or LOCAL_RANK:NUMBER,... with local ranks of 0 to " + std::to_string(workers - 1));
  };
  const auto bits_of = [&](const std::string& word) {
    const std::optional<std::int64_t> bits = whole_number(word);
    if (!bits || *bits < 0 || *bits > 3) refuse();
    return static_cast<StreamBits>(*bits);
  };
  if (text.find(':') == std::string::npos)
    return std::vector<StreamBits>(static_cast<std::size_t>(workers), bits_of(text));
  std::vector<StreamBits> choice(static_cast<std::size_t>(workers), 0);
  for (const std::string& pair : split(text, ',')) {
    const std::vector<std::string> parts = split(pair, ':');
    const std::optional<std::int64_t> rank = whole_number(parts.front());
    if (parts.size() != 2 || !rank || *rank < 0 || *rank >= workers) refuse();
    choice.at(static_cast<std::size_t>(*rank)) = bits_of(parts[1]);
  }
  return choice;
}

std::vector<WorkerStreams> choose_streams(const LaunchOptions& options, std::int64_t workers) {
  const bool wants_logs = options.log_dir && options.redirects.empty() && options.tee.empty();
  const auto text_or = [](const std::string& text, const char* otherwise) {
    return text.empty() ? otherwise : text;
  };
  const auto redirects = read_stream_choice("--redirects", text_or(options.redirects, "0"), workers);
  const auto tee = read_stream_choice("--tee", text_or(options.tee, wants_logs ? "3" : "0"), workers);
  std::set<std::int64_t> shown;
  if (!options.local_ranks_filter.empty()) shown = read_filter(options.local_ranks_filter, workers);
  std::vector<WorkerStreams> streams;
  for (std::size_t i = 0; i < tee.size(); ++i) {
    const StreamBits to_file = redirects[i] | tee[i];
    const bool filtered = !shown.empty() && !shown.contains(static_cast<std::int64_t>(i));
    const StreamBits to_console = filtered ? 0 : tee[i] | ~redirects[i];
    streams.push_back({(to_file & 1) != 0, (to_file & 2) != 0, (to_console & 1) != 0, (to_console & 2) != 0});
  }
  return streams;
}

}  // namespace ranktune::launch
