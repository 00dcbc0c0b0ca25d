#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "data/support.h"
#include "ranktune/core/utf8.h"
#include "ranktune/data/table.h"

/// Damaged files: the readers either give a table or throw a ranktune::Error that names the file. The `asan`
/// preset makes a wrong memory access fail too.
namespace ranktune::data {
namespace {

constexpr int kInputs = 10000;

const std::string kCsv =
    "\xEF\xBB\xBFid,text,label,\r\n1,\"a, "
    "\"\"b\"\"\r\nc\",good,\r\n2,caf\xC3\xA9,bad,\n\n\"3\",\"\",good,\"x\"\n4,d,bad,";
const std::string kTsv = "id\ttext\tlabel\r\n1\t\" open\tgood\n2\t\xF0\x9F\x98\x80\tbad\r\n\n3\t\tgood";
const std::string kJsonLines =
    "{\"text\": \"a \\\"b\\\" \\u00e9\\ud83d\\ude00\", \"label\": 1, \"s\": -1.5e-3}\r\n\n"
    "{\"label\": null, \"text\": \"\", \"l\": [1, {\"k\": [true, false]}, \"]\"]}\n{\"label\": 2, \"new\": "
    "NaN}\n";
const std::string kJson =
    "{\"v\": 1,\n \"data\": [" + kJsonLines.substr(0, kJsonLines.find("\r")) + ",\n{\"text\": {}}]}\n";

/// The text with up to four bytes changed, taken out, put in or doubled, or with its end cut off.
std::string mutate(std::string text, std::mt19937& random) {
  constexpr std::string_view kBytes = "\",\t\r\n\\{}[]:0-eu \xC3\xFF";
  for (auto count = 1 + random() % 4; count > 0 && !text.empty(); --count) {
    const std::size_t place = random() % text.size();
    const char byte =
        random() % 4 == 0 ? static_cast<char>(random() % 256) : kBytes[random() % kBytes.size()];
    switch (random() % 5) {
      case 0:
        text[place] = byte;
        break;
      case 1:
        text.erase(place, 1 + random() % 5);
        break;
      case 2:
        text.insert(place, 1, byte);
        break;
      case 3:
        text.insert(place, text.substr(place, random() % 20));
        break;
      default:
        text.resize(place);
        break;
    }
  }
  return text;
}

/// Touches all that a table can give.
void use(const Table& table) {
  ASSERT_GT(table.rows(), 0);
  std::int64_t last_line = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    ASSERT_GT(table.line(row), table.format() == TableFormat::json ? 0 : last_line);
    last_line = table.line(row);
    for (std::size_t column = 0; column < table.column_names().size(); ++column) {
      ASSERT_EQ(core::find_invalid_utf8(table.cell(row, column).text), std::string_view::npos);
      ASSERT_GE(table.where(row, column).line, table.line(row));
    }
  }
}

/// How many of the damaged inputs can be read.
int count_readable(const std::string& text, TableFormat format, bool header) {
  std::mt19937 random(20);
  int readable = 0;
  for (int i = 0; i < kInputs; ++i) {
    const std::string input = mutate(text, random);
    try {
      use(parse_table(input, format, {.header = header, .name = "file"}));
      ++readable;
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()).substr(0, 5), "file:");
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  return readable;
}

class DamagedInput : public testing::TestWithParam<std::tuple<TableFormat, bool>> {};

TEST_P(DamagedInput, IsReadOrRefused) {
  const auto [format, header] = GetParam();
  const std::string& text = format == TableFormat::csv          ? kCsv
                            : format == TableFormat::json       ? kJson
                            : format == TableFormat::json_lines ? kJsonLines
                                                                : kTsv;
  use(parse_table(text, format, {.header = header, .name = ""}));
  const int readable = count_readable(text, format, header);
  EXPECT_GT(readable, kInputs / 100) << "the inputs should reach beyond the first check";
  EXPECT_LT(readable, kInputs);
}

INSTANTIATE_TEST_SUITE_P(AllFormats, DamagedInput,
                         testing::Combine(testing::Values(TableFormat::csv, TableFormat::tsv,
                                                          TableFormat::lines, TableFormat::json_lines,
                                                          TableFormat::json),
                                          testing::Bool()));

/// nlohmann::json as a second opinion on what JSON is.
TEST(DamagedJson, IsRefusedExactlyWhenALibraryRefusesIt) {
  const std::string row =
      "{\"a\": [1, -2.5e+3, {\"k\": \"x\\n\\u00e9\\ud83d\\ude00\"}, true, null], \"b\": \"\xC3\xA9 \\\\\"}";
  std::mt19937 random(3);
  for (int i = 0; i < kInputs; ++i) {
    const std::string input = mutate(row, random);
    const nlohmann::json value = nlohmann::json::parse(input, nullptr, false);
    if (input.find_first_of(std::string("\n\0", 2)) != std::string::npos ||
        input.find("\\u0000") != std::string::npos)
      continue;  // one object a line, no NUL: stricter than JSON
    std::string error;
    try {
      parse_table(input, TableFormat::json_lines);
    } catch (const Error& thrown) {
      error = thrown.what();
    }
    if (error.find("there twice") != std::string::npos) continue;  // stricter than JSON, too
    EXPECT_EQ(error.empty(), value.is_object()) << input << "\n" << error;
  }
}

}  // namespace
}  // namespace ranktune::data
