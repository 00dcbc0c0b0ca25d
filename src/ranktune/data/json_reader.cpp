#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ranktune/data/json_scanner.h"
#include "ranktune/data/table_content.h"

namespace ranktune::data {
namespace {

/// More keys than this are a file of another kind, and would make a table of mostly empty cells.
constexpr std::size_t kMaxColumns = 1000;

class Reader {
 public:
  explicit Reader(TableContent& content) : content_(content) {}

  void read_lines() {
    const std::string_view text = content_.source.text;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      JsonScanner scanner(content_.source, begin, end);
      if (!scanner.at_end()) {
        read_row(scanner);
        if (!scanner.at_end())
          scanner.fail(scanner.position(), "text after the object: each line holds one object");
      }
      begin = end + 1;
      ++line_;
    }
    fill_up();
  }

  void read_document() {
    JsonScanner scanner(content_.source, 0, content_.source.text.size());
    if (const std::optional<std::size_t> data = find_data_list()) {
      JsonScanner list(content_.source, *data, content_.source.text.size());
      read_list(list);  // the rest of the document has been read by find_data_list
    } else if (scanner.peek() == '[') {
      read_list(scanner);
      if (!scanner.at_end()) scanner.fail(scanner.position(), "text after the list that holds the rows");
    } else {
      while (!scanner.at_end()) read_row(scanner);
    }
    fill_up();
  }

 private:
  /// Offset of the list in a document that is one object with {"data": [objects]}.
  std::optional<std::size_t> find_data_list() const {
    JsonScanner scanner(content_.source, 0, content_.source.text.size());
    if (scanner.peek() != '{') return std::nullopt;
    scanner.expect('{', "");
    std::optional<std::size_t> found;
    std::string storage;
    JsonValue key, value;
    for (bool first = true; scanner.next_member(first, key, value);)
      if (scanner.text_of(key, storage) == "data" && is_list_of_objects(value)) found = value.begin;
    return scanner.at_end() ? found : std::nullopt;
  }

  bool is_list_of_objects(const JsonValue& value) const {
    if (value.kind != CellKind::json || content_.source.text[value.begin] != '[') return false;
    JsonScanner scanner(content_.source, value.begin + 1, value.end);
    const char letter = scanner.peek();
    return letter == '{' || letter == ']';
  }

  void read_list(JsonScanner& scanner) {
    scanner.expect('[', "at the start of the rows");
    for (bool first = true; scanner.next_element(first, ']');) read_row(scanner);
  }

  void read_row(JsonScanner& scanner) {
    if (scanner.peek() != '{')
      content_.source.fail(scanner.position(),
                           "a row must be an object such as {\"text\": \"good\", \"label\": 1}");
    content_.rows.push_back({scanner.position(), line_at(scanner.position())});
    scanner.expect('{', "");
    JsonValue key, value;
    std::size_t expected = 0;  // rows mostly have the same keys in the same order
    for (bool first = true; scanner.next_member(first, key, value); ++expected) {
      expected = column_of(scanner, key, expected);
      std::vector<Cell>& cells = content_.columns[expected];
      if (cells.size() == content_.rows.size())
        content_.source.fail(key.start(), fmt::format("the key '{}' is there twice in this row",
                                                      excerpt(content_.names[expected])));
      cells.resize(content_.rows.size() - 1, Cell{{}, CellKind::null});
      cells.push_back(cell_of(scanner, value));
    }
  }

  Cell cell_of(const JsonScanner& scanner, const JsonValue& value) {
    if (!value.escaped)
      return {content_.source.text.substr(value.begin, value.end - value.begin), value.kind};
    std::string& storage = content_.unescaped.emplace_back();
    return {scanner.text_of(value, storage), value.kind};
  }

  std::size_t column_of(const JsonScanner& scanner, const JsonValue& key, std::size_t expected) {
    std::string storage;
    const std::string_view name = scanner.text_of(key, storage);
    if (expected < content_.names.size() && content_.names[expected] == name) return expected;
    const auto [known, is_new] = index_.try_emplace(std::string(name), content_.names.size());
    if (!is_new) return known->second;
    if (content_.names.size() == kMaxColumns)
      content_.source.fail(key.start(),
                           fmt::format("more than {} different keys: rows need the same few keys, such as "
                                       "\"text\" and \"label\"",
                                       kMaxColumns));
    content_.names.emplace_back(name);
    content_.unnamed.push_back(name.empty());
    content_.columns.emplace_back();
    return known->second;
  }

  /// Rows come in order: only the text since the last one is counted.
  std::int64_t line_at(std::size_t offset) {
    if (content_.format == TableFormat::json_lines) return line_;
    const std::string_view between = content_.source.text.substr(counted_, offset - counted_);
    line_ += std::count(between.begin(), between.end(), '\n');
    counted_ = offset;
    return line_;
  }

  void fill_up() {
    for (auto& cells : content_.columns) cells.resize(content_.rows.size(), Cell{{}, CellKind::null});
  }

  TableContent& content_;
  std::unordered_map<std::string, std::size_t> index_;
  std::int64_t line_ = 1;
  std::size_t counted_ = 0;
};

}  // namespace

void read_json(TableContent& content) {
  Reader reader(content);
  if (content.format == TableFormat::json_lines) {
    reader.read_lines();
  } else {
    reader.read_document();
  }
}

std::size_t find_json_cell(const TableContent& content, std::int64_t row, std::size_t column) {
  const std::size_t row_start = content.rows[row].offset;
  JsonScanner scanner(content.source, row_start, content.source.text.size());
  scanner.expect('{', "");
  std::string storage;
  JsonValue key, value;
  for (bool first = true; scanner.next_member(first, key, value);)
    if (scanner.text_of(key, storage) == content.names[column]) return value.start();
  return row_start;
}

}  // namespace ranktune::data
