#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ranktune/data/table_content.h"

namespace ranktune::data {

/// A JSON value as it stands in the file. A string's range is between its quotes.
struct JsonValue {
  CellKind kind = CellKind::null;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool escaped = false;  ///< a string with backslashes

  std::size_t start() const { return kind == CellKind::text ? begin - 1 : begin; }
};

/// Walks over JSON and keeps places and spelling, which a general JSON library gives up: errors name line and
/// column of a cell, and numbers and nested values leave the program as they came in.
class JsonScanner {
 public:
  /// Reads source.text from `begin` on; `end` is the end of a line or of the text.
  JsonScanner(const TableSource& source, std::size_t begin, std::size_t end)
      : source_(source), text_(source.text.substr(0, end)), position_(begin) {}

  std::size_t position() const noexcept { return position_; }
  /// True when nothing but blanks is left.
  bool at_end();
  /// The next character that is not blank; 0 at the end.
  char peek();
  /// Moves past `expected`. THROWS: DataError that says `where`, as in "after a value".
  void expect(char expected, std::string_view where);
  /// Moves past the separator of a list or past its closing bracket; false for the bracket.
  /// `first` says that nothing has been read yet, and turns false.
  bool next_element(bool& first, char closing);

  /// Reads an object member by member: expect('{'), then this until it is false.
  bool next_member(bool& first, JsonValue& key, JsonValue& value);

  /// Moves past a whole value.
  JsonValue value(int depth = 0);

  /// The text of a string, a number, a nested value; `storage` is used when it is not there as such.
  std::string_view text_of(const JsonValue& value, std::string& storage) const;

  [[noreturn]] void fail(std::size_t offset, std::string_view message) const;

 private:
  JsonValue string();
  JsonValue number();
  JsonValue nested(char closing, int depth);
  bool take_word(std::string_view word);
  bool take_digits();
  void escape();
  [[noreturn]] void fail_unterminated(std::size_t opened) const;
  char32_t hex4();

  const TableSource& source_;
  std::string_view text_;
  std::size_t position_;
};

}  // namespace ranktune::data
