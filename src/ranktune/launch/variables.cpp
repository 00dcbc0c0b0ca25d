#include "ranktune/launch/variables.h"

#include "ranktune/core/error.h"
#include "ranktune/launch/option_text.h"

namespace ranktune::launch {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

std::string value_of(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

std::optional<std::string> VariableReader::text(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  std::string value = trimmed(found->second);
  if (value.empty()) return std::nullopt;
  return value;
}

std::optional<std::string> VariableReader::raw(const std::string& name) const {
  return has(name) ? std::optional(variables_.at(name)) : std::nullopt;
}

std::optional<std::string> VariableReader::first_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (auto value = text(name)) return value;
  return std::nullopt;
}

std::optional<std::int64_t> VariableReader::number(const std::string& name) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  return to_count(*value, name);
}

std::int64_t to_count(const std::string& text, const std::string& source) {
  const std::optional<std::int64_t> value = whole_number(text);
  if (!value || *value < 0)
    throw UsageError(source + "=" + text + ": it must be a whole number of 0 or more");
  return *value;
}

std::int64_t to_port(const std::string& text, const std::string& source) {
  const std::int64_t port = to_count(text, source);
  if (port < 1 || port > 65535) throw UsageError(source + "=" + text + ": a port is 1 to 65535");
  return port;
}

std::string to_host(std::string text) {
  text = trimmed(text);
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  return text;
}

std::int64_t port_of_job(const std::string& job) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (const unsigned char letter : job) hash = (hash ^ letter) * 1099511628211U;
  return 10000 + static_cast<std::int64_t>(hash % 22768);
}

}  // namespace ranktune::launch
