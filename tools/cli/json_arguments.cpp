#include "cli/json_arguments.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"

namespace ranktune::cli {
namespace {

using nlohmann::json;

/// Where each key of the outermost object stands. The JSON library keeps no places.
/// REQUIRES: text that parses as JSON.
std::map<std::string, SourceLocation> locate_keys(std::string_view text, const std::string& file) {
  std::map<std::string, SourceLocation> places;
  std::int64_t line = 1;
  std::size_t line_start = 0;
  int depth = 0;
  bool key_next = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\n') {
      ++line;
      line_start = i + 1;
    } else if (letter == '{' || letter == '[') {
      key_next = ++depth == 1;
    } else if (letter == '}' || letter == ']') {
      --depth;
    } else if (letter == ',') {
      key_next = depth == 1;
    } else if (letter == '"') {
      const std::size_t start = i++;
      while (text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (!key_next) continue;
      key_next = false;
      const std::string key = json::parse(text.substr(start, i + 1 - start)).get<std::string>();
      places[key] = {file, line, static_cast<std::int64_t>(start - line_start) + 1};
    }
  }
  return places;
}

/// What a flag of this kind wants in JSON, when `value` is something else; or "".
std::string type_complaint(FlagKind kind, const json& value) {
  switch (kind) {
    case FlagKind::boolean:
      return value.is_boolean() ? "" : "true or false";
    case FlagKind::integer:
      return value.is_number_integer() ? "" : "a whole number";
    case FlagKind::number:
      return value.is_number() ? "" : "a number";
    case FlagKind::text:
      return value.is_string() ? "" : "a text in quotes";
    case FlagKind::object:
      return value.is_object() || value.is_string() ? "" : "a JSON object";
    case FlagKind::names:
      break;
  }
  if (value.is_string()) return "";
  bool texts = value.is_array() && !value.empty();
  for (const json& member : value) texts = texts && member.is_string();
  return texts ? "" : "a list of texts, or one text with commas";
}

std::string short_text(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return value.is_string() ? in_quotes(value.get<std::string>()) : text.substr(0, 40);
}

/// A list of names in one text is taken apart at its commas; the members of an array stay as they are.
std::vector<std::string> words_of(FlagKind kind, const json& value) {
  const bool one_text = value.is_string();
  if (one_text && kind == FlagKind::names) return parse_names({value.get<std::string>()});
  if (one_text) return {value.get<std::string>()};
  if (!value.is_array()) return {value.dump()};
  std::vector<std::string> words;
  for (const json& member : value)
    words.push_back(member.is_string() ? member.get<std::string>() : member.dump());
  return words;
}

/// Refused flags pass when they are off, whatever their type: "fsdp": [], "fsdp_config": {}, "fp16":
/// false.
bool is_off(const json& value) {
  return value == false || (value.is_structured() && value.empty()) || value == "";
}

}  // namespace

std::vector<Assignment> read_json_arguments(const std::filesystem::path& path, const FlagTable& table) {
  const std::string file = path.string();
  const std::string text = core::read_file(path);
  const json root = core::parse_json(text, file);
  if (!root.is_object())
    throw DataError({file, 1, 0},
                    "must hold one JSON object with the arguments: {\"learning_rate\": 5e-5, ...}");
  const std::map<std::string, SourceLocation> places = locate_keys(text, file);
  std::vector<Assignment> assignments;
  for (const auto& [key, value] : root.items()) {
    const SourceLocation& place = places.at(key);
    const FlagTable::Match match = table.find_exact(key);
    if (match.flag == nullptr || match.negated)
      throw DataError(place, "unknown argument " + in_quotes(key) + table.suggestion(key, ""));
    const Flag& flag = *match.flag;
    const bool live = flag.role == FlagRole::live;
    if (value.is_null() || (flag.role == FlagRole::refused && is_off(value))) continue;
    const std::string wanted = live ? type_complaint(flag.kind, value) : "";
    if (!wanted.empty())
      throw DataError(place, flag.name + " must be " + wanted + ", not " + short_text(value));
    assignments.push_back({&flag, words_of(flag.kind, value), to_string(place) + ": " + flag.name});
  }
  return assignments;
}

}  // namespace ranktune::cli
