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
  if (const auto code = message.find("errorCode"); code != message.end() && code->is_number_integer())
    record.exit_code = code->get<int>();
  if (const auto info = message.find("extraInfo"); info != message.end()) {
    record.timestamp = seconds_of(info->value("timestamp", json(0)));
    record.follows_another = info->value("ranktune_follows_another", json(false)) == true;
  }
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
  json info = {{"timestamp", std::to_string(record.timestamp)}};
  if (record.follows_another) info["ranktune_follows_another"] = true;
  json message = {{"message", record.message}, {"extraInfo", info}};
  if (record.exit_code) message["errorCode"] = *record.exit_code;
  return json{{"message", message}}.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace ranktune::launch
