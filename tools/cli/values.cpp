#include "cli/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ranktune::cli {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// std::from_chars knows no plus sign, people do.
std::string_view without_plus(std::string_view word) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
  return plus ? word.substr(1) : word;
}

template <typename Number>
std::optional<Number> parse_whole(std::string_view word) {
  word = without_plus(word);
  Number value{};
  const char* const end = word.data() + word.size();
  const auto [stopped, code] = std::from_chars(word.data(), end, value);
  if (word.empty() || code != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::optional<bool> parse_boolean(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(), lower);
  constexpr std::array<std::string_view, 5> kTrue = {"true", "yes", "t", "y", "1"};
  constexpr std::array<std::string_view, 5> kFalse = {"false", "no", "f", "n", "0"};
  if (std::find(kTrue.begin(), kTrue.end(), small) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), small) != kFalse.end()) return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view word) {
  return parse_whole<std::int64_t>(word);
}

std::optional<double> parse_number(std::string_view word) {
  const std::optional<double> value = parse_whole<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<std::string> parse_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word.find(',') == std::string::npos) {
      names.push_back(word);
      continue;
    }
    for (std::string_view rest = word;;) {
      const std::size_t comma = rest.find(',');
      names.emplace_back(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return names;
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kLongest = 80;
  std::string text = "\"";
  std::size_t end = std::min(word.size(), kLongest);
  // A cut may not fall inside a UTF-8 sequence.
  while (end < word.size() && end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) --end;
  for (const char letter : word.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(letter);
    text += byte < 0x20 || byte == 0x7F ? '?' : letter;
  }
  return text + (end < word.size() ? "...\"" : "\"");
}

std::string with_underscores(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace ranktune::cli
