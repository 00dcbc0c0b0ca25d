#include "ranktune/launch/host_list.h"

#include <algorithm>
#include <optional>

#include "ranktune/core/error.h"
#include "ranktune/launch/option_text.h"

namespace ranktune::launch {
namespace {

constexpr std::size_t kMostHosts = 1 << 20;  ///< a range that asks for more is a misreading

[[noreturn]] void refuse(const std::string& text, const std::string& kind) {
  throw UsageError("\"" + text + "\" is no " + kind +
                   " of Slurm's: unset the variable, or set RANKTUNE_LAUNCH=none");
}

std::optional<std::int64_t> number(const std::string& text) {
  const std::optional<std::int64_t> value = whole_number(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Cuts at commas outside brackets.
std::vector<std::string> split_outside_brackets(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : text) {
    depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    if (letter == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

/// The numbers of a bracket group, zeros in front kept: "01-03,7".
std::vector<std::string> expand_group(const std::string& group, const std::string& whole) {
  std::vector<std::string> values;
  for (const std::string& part : split_outside_brackets(group)) {
    const std::size_t dash = part.find('-');
    const std::string low = part.substr(0, dash),
                      high = dash == std::string::npos ? low : part.substr(dash + 1);
    const auto first = number(low), last = number(high);
    if (!first || !last || *last < *first || static_cast<std::size_t>(*last - *first) >= kMostHosts)
      refuse(whole, "list of hosts");
    for (std::int64_t value = *first; value <= *last; ++value) {
      const std::string digits = std::to_string(value);
      values.push_back(std::string(low.size() > digits.size() ? low.size() - digits.size() : 0, '0') +
                       digits);
    }
  }
  return values;
}

/// One pattern without outer commas, its groups from left to right.
std::vector<std::string> expand_pattern(const std::string& pattern, const std::string& whole) {
  const std::size_t open = pattern.find('[');
  if (open == std::string::npos) {
    if (pattern.empty() || pattern.find(']') != std::string::npos) refuse(whole, "list of hosts");
    return {pattern};
  }
  const std::size_t close = pattern.find(']', open);
  if (close == std::string::npos) refuse(whole, "list of hosts");
  const std::string rest = pattern.substr(close + 1);
  const std::vector<std::string> tails =
      rest.empty() ? std::vector<std::string>{""} : expand_pattern(rest, whole);
  std::vector<std::string> hosts;
  for (const std::string& value : expand_group(pattern.substr(open + 1, close - open - 1), whole))
    for (const std::string& tail : tails) hosts.push_back(pattern.substr(0, open) + value + tail);
  if (hosts.size() > kMostHosts) refuse(whole, "list of hosts");
  return hosts;
}

}  // namespace

std::vector<std::string> expand_host_list(const std::string& text) {
  std::vector<std::string> hosts;
  for (const std::string& pattern : split_outside_brackets(text))
    for (std::string& host : expand_pattern(pattern, text)) hosts.push_back(std::move(host));
  return hosts;
}

std::vector<std::int64_t> expand_task_counts(const std::string& text) {
  std::vector<std::int64_t> counts;
  for (const std::string& part : split_outside_brackets(text)) {
    const std::size_t open = part.find("(x");
    const auto count = number(part.substr(0, open));
    std::optional<std::int64_t> times = 1;
    if (open != std::string::npos)
      times = part.ends_with(')') ? number(part.substr(open + 2, part.size() - open - 3)) : std::nullopt;
    if (!count || !times || *times < 1 || static_cast<std::size_t>(*times) > kMostHosts)
      refuse(text, "list of task counts");
    counts.insert(counts.end(), static_cast<std::size_t>(*times), *count);
  }
  return counts;
}

}  // namespace ranktune::launch
