#include "ranktune/data/json_scanner.h"

#include <fmt/format.h>

#include "ranktune/core/utf8.h"

namespace ranktune::data {
namespace {

constexpr int kMaxDepth = 200;

bool is_high_surrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

/// REQUIRES: four hexadecimal digits at `position`.
char32_t read_hex4(std::string_view text, std::size_t position) {
  char32_t unit = 0;
  for (std::size_t i = position; i < position + 4; ++i)
    unit = unit * 16 + static_cast<char32_t>(hex_digit(text[i]));
  return unit;
}

/// REQUIRES: a string that the scanner has accepted.
std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    switch (const char letter = raw[++i]; letter) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        char32_t code_point = read_hex4(raw, i + 1);
        i += 4;
        if (is_high_surrogate(code_point)) {
          code_point = 0x10000 + ((code_point - 0xD800) << 10) + (read_hex4(raw, i + 3) - 0xDC00);
          i += 6;
        }
        core::append_utf8(out, code_point);
        break;
      }
      default:
        out += letter;
    }
  }
  return out;
}

}  // namespace

void JsonScanner::fail(std::size_t offset, std::string_view message) const {
  const bool line_ends = offset >= text_.size() && text_.size() < source_.text.size();
  source_.fail(offset, fmt::format("this is not valid JSON: {}{}", message,
                                   line_ends ? "; each object must be on a line of its own" : ""));
}

char JsonScanner::peek() {
  for (; position_ < text_.size(); ++position_) {
    const char letter = text_[position_];
    if (letter != ' ' && letter != '\n' && letter != '\r' && letter != '\t') return letter;
  }
  return '\0';
}

bool JsonScanner::at_end() {
  peek();
  return position_ >= text_.size();
}

void JsonScanner::expect(char expected, std::string_view where) {
  if (peek() != expected) fail(position_, fmt::format("'{}' is missing {}", expected, where));
  ++position_;
}

bool JsonScanner::next_element(bool& first, char closing) {
  const char letter = peek();
  if (letter == closing) {
    ++position_;
    return false;
  }
  if (!first) {
    if (letter != ',') fail(position_, fmt::format("',' or '{}' is missing after a value", closing));
    ++position_;
    if (peek() == closing) fail(position_, fmt::format("a value is missing between ',' and '{}'", closing));
  }
  first = false;
  return true;
}

bool JsonScanner::next_member(bool& first, JsonValue& key, JsonValue& member) {
  if (!next_element(first, '}')) return false;
  if (peek() != '"') fail(position_, "a key in double quotes is missing");
  key = string();
  expect(':', "after a key");
  member = value(1);
  return true;
}

JsonValue JsonScanner::value(int depth) {
  if (depth > kMaxDepth)
    fail(position_, fmt::format("lists and objects are nested more than {} deep", kMaxDepth));
  const char letter = peek();
  const std::size_t begin = position_;
  if (letter == '"') return string();
  if (letter == '{') return nested('}', depth);
  if (letter == '[') return nested(']', depth);
  if (take_word("true") || take_word("false")) return {CellKind::boolean, begin, position_};
  if (take_word("null")) return {CellKind::null, begin, begin};
  if (take_word("NaN") || take_word("Infinity") || take_word("-Infinity"))
    return {CellKind::floating, begin, position_};
  if (letter == '-' || (letter >= '0' && letter <= '9')) return number();
  fail(position_, position_ >= text_.size() ? "it ends where a value is needed" : "a value is missing");
}

JsonValue JsonScanner::nested(char closing, int depth) {
  const std::size_t begin = position_++;
  bool first = true;
  while (next_element(first, closing)) {
    if (closing == '}') {
      if (peek() != '"') fail(position_, "a key in double quotes is missing");
      string();
      expect(':', "after a key");
    }
    value(depth + 1);
  }
  return {CellKind::json, begin, position_};
}

bool JsonScanner::take_word(std::string_view word) {
  if (!text_.substr(position_).starts_with(word)) return false;
  position_ += word.size();
  return true;
}

bool JsonScanner::take_digits() {
  const std::size_t begin = position_;
  while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') ++position_;
  return position_ > begin;
}

JsonValue JsonScanner::number() {
  const std::size_t begin = position_;
  CellKind kind = CellKind::integer;
  take_word("-");
  const std::size_t digits = position_;
  if (!take_digits()) fail(position_, "digits are missing in a number");
  if (text_[digits] == '0' && position_ > digits + 1) fail(digits, "a number starts with a needless 0");
  if (take_word(".")) {
    kind = CellKind::floating;
    if (!take_digits()) fail(position_, "digits are missing in a number");
  }
  if (take_word("e") || take_word("E")) {
    kind = CellKind::floating;
    if (!take_word("+")) take_word("-");
    if (!take_digits()) fail(position_, "digits are missing in a number");
  }
  return {kind, begin, position_};
}

JsonValue JsonScanner::string() {
  const std::size_t opened = position_++;
  JsonValue out{CellKind::text, position_, position_};
  for (;;) {
    if (position_ >= text_.size()) fail_unterminated(opened);
    const char letter = text_[position_];
    if (letter == '"') break;
    if (static_cast<unsigned char>(letter) < 0x20)
      fail(position_, letter == '\n' ? "a line break in a string must be written as \\n"
                                     : "a control character in a string must be written as \\t or \\u0009");
    if (letter == '\\') {
      out.escaped = true;
      escape();
    } else {
      ++position_;
    }
  }
  out.end = position_++;
  return out;
}

void JsonScanner::fail_unterminated(std::size_t opened) const {
  const bool line_ends = text_.size() < source_.text.size();
  fail(opened, line_ends ? "this string does not end on its line; a line break in it must be written as \\n"
                         : "the quote that opens this string never ends");
}

void JsonScanner::escape() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  const std::size_t begin = position_++;
  const char letter = position_ < text_.size() ? text_[position_++] : '\0';
  if (letter != '\0' && kLetters.find(letter) != std::string_view::npos) return;
  if (letter != 'u') fail(begin, "a backslash must be followed by one of \" \\ / b f n r t u");
  const char32_t unit = hex4();
  if (unit == 0) fail(begin, "\\u0000 is a NUL character, which no text has");
  if (is_low_surrogate(unit)) fail(begin, "the second half of a surrogate pair stands alone");
  if (is_high_surrogate(unit) && !(take_word("\\u") && is_low_surrogate(hex4())))
    fail(begin, "the first half of a surrogate pair stands alone");
}

char32_t JsonScanner::hex4() {
  for (std::size_t i = position_; i < position_ + 4; ++i)
    if (i >= text_.size() || hex_digit(text_[i]) < 0) fail(i, "four hexadecimal digits are needed after \\u");
  const char32_t unit = read_hex4(text_, position_);
  position_ += 4;
  return unit;
}

std::string_view JsonScanner::text_of(const JsonValue& value, std::string& storage) const {
  const std::string_view raw = text_.substr(value.begin, value.end - value.begin);
  if (!value.escaped) return raw;
  storage = unescape(raw);
  return storage;
}

}  // namespace ranktune::data
