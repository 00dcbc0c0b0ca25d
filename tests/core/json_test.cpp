#include "ranktune/core/json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"
#include "support/temporary_folder.h"

namespace ranktune::core {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Expected texts were printed by Python 3.11: repr(float) and json.dumps.

TEST(PythonFloat, PrintsTheShortestDigitsInPythonsForm) {
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {100.0, "100.0"},
      {5e-05, "5e-05"},
      {1e-4, "0.0001"},
      {9.999e-5, "9.999e-05"},
      {-2.5e-7, "-2.5e-07"},
      {0.6920301914215088, "0.6920301914215088"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {1e15, "1000000000000000.0"},
      {9007199254740993.0, "9007199254740992.0"},
      {1e16, "1e+16"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {1e100, "1e+100"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(python_float(value), text);
}

TEST(PythonFloat, NamesWhatIsNotFinite) {
  EXPECT_EQ(python_float(std::nan("")), "NaN");
  EXPECT_EQ(python_float(HUGE_VAL), "Infinity");
  EXPECT_EQ(python_float(-HUGE_VAL), "-Infinity");
}

json sample() {
  return {{"b", {1, 2.0, {{"x", nullptr}}}},
          {"a", json::object()},
          {"c", json::array()},
          {"\xC3\xA9", "\xC3\xBC\x7F\"\n\xF0\x9F\x98\x80"},
          {"n", std::nan("")}};
}

TEST(ToPythonJson, IndentsAndSortsAsPythonDoes) {
  const std::string expected =
      "{\n  \"a\": {},\n  \"b\": [\n    1,\n    2.0,\n    {\n      \"x\": null\n    }\n  ],\n  \"c\": [],\n  "
      "\"n\": NaN,\n"
      "  \"\\u00e9\": \"\\u00fc\\u007f\\\"\\n\\ud83d\\ude00\"\n}\n";
  EXPECT_EQ(to_python_json(sample(), {.indent = 2, .final_newline = true, .ascii = true}), expected);
}

TEST(ToPythonJson, WritesOneLineAndKeepsText) {
  EXPECT_EQ(to_python_json(sample(), {.indent = -1}),
            "{\"a\": {}, \"b\": [1, 2.0, {\"x\": null}], \"c\": [], \"n\": NaN, "
            "\"\xC3\xA9\": \"\xC3\xBC\x7F\\\"\\n\xF0\x9F\x98\x80\"}");
}

TEST(ToPythonJson, KeepsTheOrderOfAnOrderedObject) {
  nlohmann::ordered_json value;
  value["z"] = 1;
  value["a"] = {{"y", 0.5}, {"b", true}};
  EXPECT_EQ(to_python_json(value, {.indent = -1}), "{\"z\": 1, \"a\": {\"y\": 0.5, \"b\": true}}");
}

TEST(ParseJson, ReadsPythonsBareWordsOutsideStringsOnly) {
  const json value =
      parse_json(R"({"a": NaN, "b": [-Infinity, Infinity], "NaN": "NaN \" Infinity"})", "f.json");
  EXPECT_TRUE(std::isnan(value["a"].get<double>()));
  EXPECT_EQ(value["b"][0].get<double>(), -HUGE_VAL);
  EXPECT_EQ(value["b"][1].get<double>(), HUGE_VAL);
  EXPECT_EQ(value["NaN"], "NaN \" Infinity");
}

TEST(ParseJson, ReadsBackWhatItWrote) {
  const std::string text = to_python_json(sample());
  EXPECT_EQ(to_python_json(parse_json(text, "f.json")), text);
}

DataError fault_in(std::string_view text) {
  try {
    parse_json(text, "f.json");
  } catch (const DataError& error) {
    return error;
  }
  throw std::runtime_error("no error was thrown");
}

TEST(ParseJson, NamesLineAndColumnOfTheFault) {
  const DataError error = fault_in("{\n  \"a\": 1,\n  \"b\": ?\n}");
  EXPECT_EQ(error.where().file, "f.json");
  EXPECT_EQ(error.where().line, 3);
  EXPECT_EQ(error.where().column, 8);
  EXPECT_THAT(error.what(), testing::StartsWith("f.json:3:8: is not valid JSON: "));
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("json.exception")));
}

TEST(ParseJson, CountsColumnsOfTheFileBehindABareWordToo) {
  const DataError error = fault_in("[NaN, -Infinity,\n Infinity, NaN, ?]");
  EXPECT_EQ(error.where().line, 2);
  EXPECT_EQ(error.where().column, 17);
}

TEST(ParseJson, RefusesTornAndOversizedContent) {
  EXPECT_EQ(fault_in("{\"a\": [1, 2").where().line, 1);
  EXPECT_EQ(fault_in("").where().line, 1);
  EXPECT_THAT(fault_in("{\"a\": 1e999}").what(), HasSubstr("1e999"));
  EXPECT_EQ(fault_in("{\"a\":\n \"\xFF\"}").where().line, 2);
}

TEST(ReadJsonFile, NamesTheFile) {
  const tests::TemporaryFolder folder;
  EXPECT_EQ(read_json_file(folder.file("good.json", "{\"a\": 1}"))["a"], 1);
  const auto path = folder.file("bad.json", "{");
  EXPECT_THROW(
      {
        try {
          read_json_file(path);
        } catch (const DataError& error) {
          EXPECT_EQ(error.where().file, path.string());
          throw;
        }
      },
      DataError);
  EXPECT_THROW(read_json_file(folder.path() / "absent.json"), DataError);
}

}  // namespace
}  // namespace ranktune::core
