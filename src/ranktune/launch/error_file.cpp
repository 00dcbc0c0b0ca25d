#include "ranktune/launch/error_file.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"
#include "ranktune/core/json.h"

namespace ranktune::launch {
namespace {

using nlohmann::json;

/// Python writes the time as a number or as text.
std::int64_t seconds_of(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return 0;
  const std::string& text = value.get_ref<const std::string&>();
  std::int64_t seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return code == std::errc() ? seconds : 0;
}

ErrorRecord record_of(const json& file) {
  const json& message = file.at("message");
  if (message.is_string())
    return {message.get<std::string>(), file.contains("timestamp") ? seconds_of(file.at("timestamp")) : 0};
  ErrorRecord record{message.at("message").get<std::string>(), 0};
  if (message.contains("extraInfo"))
    record.timestamp = seconds_of(message.at("extraInfo").value("timestamp", json(0)));
  return record;
}

}  // namespace

std::optional<ErrorRecord> parse_error_file(std::string_view text) {
  try {
    return record_of(json::parse(text));
  } catch (const json::exception&) {
    return std::nullopt;  // cut short, or somebody else's
  }
}

std::string error_file_text(const ErrorRecord& record) {
  // No "py_callstack", not even an empty one: torchrun would show that in place of the message.
  const json file = {
      {"message",
       {{"message", record.message}, {"extraInfo", {{"timestamp", std::to_string(record.timestamp)}}}}}};
  return file.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace ranktune::launch
