#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/support.h"
#include "ranktune/data/table.h"

namespace ranktune::data {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using tests::column_of;
using tests::error_of;
using tests::Integers;
using tests::lines_of;
using tests::row_of;
using tests::Strings;

Table lines(const std::string& text) {
  return parse_table(text, TableFormat::json_lines, {.name = "f.jsonl"});
}
Table document(const std::string& text) {
  return parse_table(text, TableFormat::json, {.name = "f.json"});
}
std::string lines_error(const std::string& text) {
  return error_of([&] { lines(text); });
}
std::string document_error(const std::string& text) {
  return error_of([&] { document(text); });
}

TEST(JsonLines, KeysBecomeColumnsInOrderOfAppearance) {
  const Table table = lines("{\"b\": 1, \"a\": \"x\"}\r\n\n {\"a\": \"y\", \"c\": true, \"b\": 2}\n");
  EXPECT_EQ(table.column_names(), (Strings{"b", "a", "c"}));
  EXPECT_EQ(row_of(table, 1), (Strings{"2", "y", "true"}));
  EXPECT_EQ(lines_of(table), (Integers{1, 3}));
}

TEST(JsonLines, MissingKeysAreNull) {
  const Table table = lines("{\"a\": \"x\"}\n{\"b\": \"y\"}\n{}\n");
  EXPECT_EQ(table.cell(0, 1).kind, CellKind::null);
  EXPECT_EQ(table.cell(1, 0).kind, CellKind::null);
  EXPECT_EQ(table.cell(2, 0).kind, CellKind::null);
  EXPECT_EQ(table.cell(1, 1).text, "y");
  EXPECT_EQ(to_string(table.where(1, 0)), "f.jsonl:2:1");
}

TEST(JsonLines, CellsKeepTypeAndSpelling) {
  const Table table = lines(
      R"({"t": "x", "i": -12, "big": 123456789012345678901, "f": 1.50, "e": 2E3, "n": NaN, "b": false, "z": null, )"
      R"("l": [1, {"a": "]"}], "o": {"k": [ ]}})");
  EXPECT_EQ(row_of(table, 0), (Strings{"x", "-12", "123456789012345678901", "1.50", "2E3", "NaN", "false", "",
                                       "[1, {\"a\": \"]\"}]", "{\"k\": [ ]}"}));
  std::vector<CellKind> kinds;
  for (std::size_t i = 0; i < 10; ++i) kinds.push_back(table.cell(0, i).kind);
  EXPECT_EQ(kinds,
            (std::vector<CellKind>{CellKind::text, CellKind::integer, CellKind::integer, CellKind::floating,
                                   CellKind::floating, CellKind::floating, CellKind::boolean, CellKind::null,
                                   CellKind::json, CellKind::json}));
}

TEST(JsonLines, EscapesAreDecoded) {
  const Table table = lines(R"({"a\u0062": "\" \\ \/ \b\f\n\r\t \u00e9 \u20AC \ud83d\ude00 é"})");
  EXPECT_EQ(table.column_names(), (Strings{"ab"}));
  EXPECT_EQ(table.cell(0, 0).text, "\" \\ / \b\f\n\r\t \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC3\xA9");
}

TEST(JsonLines, PlaceOfACellIsItsFirstByte) {
  const Table table = lines("{\"a\": 1, \"b\": \"x\"}\n{\"b\": \"y\", \"a\":2}\n");
  EXPECT_EQ(to_string(table.where(0, 1)), "f.jsonl:1:15");
  EXPECT_EQ(to_string(table.where(1, 0)), "f.jsonl:2:16");
}

TEST(Json, ArrayOfObjects) {
  const Table table =
      document("[\n  {\"text\": \"a\",\n   \"label\": 0},\n  {\"text\": \"b\", \"label\": 1}\n]\n");
  EXPECT_EQ(column_of(table, 0), (Strings{"a", "b"}));
  EXPECT_EQ(lines_of(table), (Integers{2, 4}));
  EXPECT_EQ(to_string(table.where(0, 1)), "f.json:3:13");
}

TEST(Json, ObjectWithData) {
  const Table table =
      document("{\"version\": \"1.0\",\n \"data\": [{\"text\": \"a\"},\n{\"text\": \"b\"}], \"n\": 2}");
  EXPECT_EQ(column_of(table, 0), (Strings{"a", "b"}));
  EXPECT_EQ(lines_of(table), (Integers{2, 3}));
}

TEST(Json, ObjectsOneAfterTheOther) {
  const Table table = document("{\"text\": \"a\", \"data\": [{}]}\n{\"text\": \"b\", \"data\": []}\n");
  EXPECT_EQ(table.column_names(), (Strings{"text", "data"}));
  EXPECT_EQ(column_of(table, 0), (Strings{"a", "b"}));
  EXPECT_EQ(document("{\"text\": \"only row\"}").rows(), 1);
}

TEST(JsonErrors, NamePlaceAndFault) {
  const std::string fault = "this is not valid JSON: ";
  const std::string own_line = "; each object must be on a line of its own";
  EXPECT_EQ(lines_error("{\"a\": 1}\n{\"a\": 2 \"b\"}\n"),
            "f.jsonl:2:9: " + fault + "',' or '}' is missing after a value");
  EXPECT_EQ(lines_error("{\"a\" 1}"), "f.jsonl:1:6: " + fault + "':' is missing after a key");
  EXPECT_EQ(lines_error("{\"a\": 1,}"), "f.jsonl:1:9: " + fault + "a value is missing between ',' and '}'");
  EXPECT_EQ(lines_error("{a: 1}"), "f.jsonl:1:2: " + fault + "a key in double quotes is missing");
  EXPECT_EQ(lines_error("{\"a\": tru}"), "f.jsonl:1:7: " + fault + "a value is missing");
  EXPECT_EQ(lines_error("{\"a\": 01}"), "f.jsonl:1:7: " + fault + "a number starts with a needless 0");
  EXPECT_EQ(lines_error("{\"a\": 1.}"), "f.jsonl:1:9: " + fault + "digits are missing in a number");
  EXPECT_EQ(lines_error("{\"a\": \"x\n\"}"),
            "f.jsonl:1:7: " + fault +
                "this string does not end on its line; a line break in it must be written as \\n");
  EXPECT_EQ(lines_error("{\"a\": \"x"),
            "f.jsonl:1:7: " + fault + "the quote that opens this string never ends");
  EXPECT_EQ(lines_error("{\"a\":\n1}"),
            "f.jsonl:1:6: " + fault + "it ends where a value is needed" + own_line);
  EXPECT_EQ(document_error("[{\"a\": \"x\n\"}]"),
            "f.json:1:10: " + fault + "a line break in a string must be written as \\n");
  EXPECT_EQ(document_error("[{\"a\": 1}"), "f.json:1:10: " + fault + "',' or ']' is missing after a value");
  EXPECT_EQ(document_error("[{\"a\": 1}] x"),
            "f.json:1:12: " + fault + "text after the list that holds the rows");
  EXPECT_EQ(lines_error("{\"a\": 1} {\"a\": 2}"),
            "f.jsonl:1:10: " + fault + "text after the object: each line holds one object");
}

TEST(JsonErrors, Escapes) {
  EXPECT_THAT(lines_error(R"({"a": "\x"})"),
              EndsWith("a backslash must be followed by one of \" \\ / b f n r t u"));
  EXPECT_THAT(lines_error(R"({"a": "\u12g4"})"), StartsWith("f.jsonl:1:12: "));
  EXPECT_THAT(lines_error(R"({"a": "x\u0000"})"),
              StartsWith("f.jsonl:1:9: this is not valid JSON: \\u0000 is a NUL"));
  EXPECT_THAT(lines_error(R"({"a": "\ud83d x"})"),
              EndsWith("the first half of a surrogate pair stands alone"));
  EXPECT_THAT(lines_error(R"({"a": "\ude00"})"),
              EndsWith("the second half of a surrogate pair stands alone"));
}

TEST(JsonErrors, RowsMustBeObjects) {
  const std::string wanted = "a row must be an object such as {\"text\": \"good\", \"label\": 1}";
  EXPECT_EQ(lines_error("{\"a\": 1}\n[1, 2]\n"), "f.jsonl:2:1: " + wanted);
  EXPECT_EQ(document_error("[{\"a\": 1}, \"x\"]"), "f.json:1:12: " + wanted);
  EXPECT_EQ(document_error("text,label\n"), "f.json:1:1: " + wanted);
}

TEST(JsonErrors, KeyTwiceInARow) {
  EXPECT_EQ(lines_error("{\"a\": 1, \"a\": 2}"), "f.jsonl:1:10: the key 'a' is there twice in this row");
}

TEST(JsonErrors, NoRows) {
  EXPECT_EQ(document_error("[]"), "f.json: has no rows: at least one is needed");
  EXPECT_EQ(document_error("{\"data\": []}"), "f.json: has no rows: at least one is needed");
  EXPECT_EQ(document_error(" \n"), "f.json: is empty: a table with at least one row is needed");
}

TEST(JsonErrors, DeepNestingAndManyKeysAreRefused) {
  EXPECT_THAT(lines_error("{\"a\": " + std::string(100000, '[')), HasSubstr("nested more than 200 deep"));
  std::string many;
  for (int i = 0; i <= 1000; ++i) many += "{\"k" + std::to_string(i) + "\": 1}\n";
  EXPECT_THAT(lines_error(many), StartsWith("f.jsonl:1001:2: more than 1000 different keys"));
}

}  // namespace
}  // namespace ranktune::data
