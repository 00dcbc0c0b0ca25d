#include "ranktune/core/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"

namespace ranktune::core {
namespace {

using nlohmann::json;

/// Json is nlohmann::json (sorted keys) or nlohmann::ordered_json.
template <class Json>
class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  std::string finish(const Json& value) {
    write(value, 0);
    if (style_.final_newline) text_ += '\n';
    return std::move(text_);
  }

 private:
  void write(const Json& value, int depth) {
    switch (value.type()) {
      case nlohmann::detail::value_t::object:
        return write_object(value, depth);
      case nlohmann::detail::value_t::array:
        return write_array(value, depth);
      case nlohmann::detail::value_t::number_float:
        text_ += python_float(value.template get<double>());
        return;
      default:
        text_ += dump(value);
        return;
    }
  }

  void write_object(const Json& value, int depth) {
    text_ += '{';
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      begin_member(first, depth);
      text_ += dump(Json(key)) + ": ";
      write(member, depth + 1);
    }
    end_members(first, depth, '}');
  }

  void write_array(const Json& value, int depth) {
    text_ += '[';
    bool first = true;
    for (const Json& member : value) {
      begin_member(first, depth);
      write(member, depth + 1);
    }
    end_members(first, depth, ']');
  }

  void begin_member(bool& first, int depth) {
    if (!first) text_ += style_.indent < 0 ? ", " : ",";
    first = false;
    break_line(depth + 1);
  }

  void end_members(bool empty, int depth, char bracket) {
    if (!empty) break_line(depth);
    text_ += bracket;
  }

  void break_line(int depth) {
    if (style_.indent < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(style_.indent * depth), ' ');
  }

  std::string dump(const Json& value) const { return value.dump(-1, ' ', style_.ascii); }

  JsonStyle style_;
  std::string text_;
};

/// Python's json accepts the bare words NaN, Infinity and -Infinity; JSON does not. Outside strings they
/// become marked strings for the parser, and numbers again afterwards.
bool has_bare_words(std::string_view text) {
  return text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
}

/// JSON text in which the bare words are marked strings, and where each of them ends here and in the
/// original.
struct MarkedText {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> ends;

  std::size_t original_position(std::size_t position) const {
    const auto after =
        std::find_if(ends.begin(), ends.end(), [&](const auto& end) { return end.first > position; });
    if (after == ends.begin()) return position;
    return std::prev(after)->second + (position - std::prev(after)->first);
  }
};

MarkedText mark_bare_words(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"NaN", "\"\\u0000NaN\""}, {"Infinity", "\"\\u0000Inf\""}, {"-Infinity", "\"\\u0000-Inf\""}};
  MarkedText out;
  bool in_string = false;
  std::size_t i = 0;
  while (i < text.size()) {
    const auto mark = std::find_if(std::begin(kMarks), std::end(kMarks), [&](const auto& m) {
      return !in_string && text.substr(i).starts_with(m.first);
    });
    if (mark != std::end(kMarks)) {
      out.text += mark->second;
      i += mark->first.size();
      out.ends.emplace_back(out.text.size(), i);
      continue;
    }
    if (in_string && text[i] == '\\' && i + 1 < text.size())
      out.text += text[i++];
    else if (text[i] == '"')
      in_string = !in_string;
    out.text += text[i++];
  }
  return out;
}

void restore_bare_words(json& value) {
  if (value.is_structured()) {
    for (json& member : value) restore_bare_words(member);
  } else if (value.is_string()) {
    const std::string& word = value.get_ref<const std::string&>();
    if (word == std::string_view("\0NaN", 4))
      value = std::nan("");
    else if (word == std::string_view("\0Inf", 4))
      value = HUGE_VAL;
    else if (word == std::string_view("\0-Inf", 5))
      value = -HUGE_VAL;
  }
}

SourceLocation location_of(std::string_view text, std::size_t byte, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {file, line, static_cast<std::int64_t>(before.size() - line_start) + 1};
}

/// nlohmann's message without the head "[json.exception.parse_error.101] parse error at line 1, column 2: ",
/// or without the bracket alone where no place is given.
std::string reason_of(const json::exception& error) {
  const std::string_view message = error.what();
  const std::string_view head_end = message.find("parse error at") != std::string_view::npos ? ": " : "] ";
  const std::size_t end = message.find(head_end);
  return std::string(end == std::string_view::npos ? message : message.substr(end + 2));
}

}  // namespace

std::string to_python_json(const json& value, const JsonStyle& style) {
  return Writer<json>(style).finish(value);
}

std::string to_python_json(const nlohmann::ordered_json& value, const JsonStyle& style) {
  return Writer<nlohmann::ordered_json>(style).finish(value);
}

std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  const double magnitude = std::abs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char buffer[64];
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value, format);
  std::string text(buffer, end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

json parse_json(std::string_view text, const std::string& file) {
  const bool python_words = has_bare_words(text);
  const MarkedText marked = python_words ? mark_bare_words(text) : MarkedText{};
  try {
    json value = json::parse(python_words ? std::string_view(marked.text) : text);
    if (python_words) restore_bare_words(value);
    return value;
  } catch (const json::parse_error& error) {
    const std::size_t position = marked.original_position(error.byte == 0 ? 0 : error.byte - 1);
    throw DataError(location_of(text, position, file), "is not valid JSON: " + reason_of(error));
  } catch (const json::out_of_range& error) {
    throw DataError({file}, "is not valid JSON: " + reason_of(error));
  }
}

json read_json_file(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

}  // namespace ranktune::core
