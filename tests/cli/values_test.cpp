#include "cli/values.h"

#include <gtest/gtest.h>

namespace ranktune::cli {
namespace {

TEST(ParseBoolean, KnowsTheWordsOfRunGlueInAnyCase) {
  for (const char* word : {"true", "True", "TRUE", "yes", "Y", "t", "1"})
    EXPECT_EQ(parse_boolean(word), true) << word;
  for (const char* word : {"false", "False", "no", "N", "f", "0"})
    EXPECT_EQ(parse_boolean(word), false) << word;
  for (const char* word : {"", "on", "tru", "2", "true "})
    EXPECT_EQ(parse_boolean(word), std::nullopt) << word;
}

TEST(ParseInteger, TakesTheWholeWordOrNothing) {
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("+32"), 32);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* word : {"", "5x", "5.0", "1e3", " 5", "9223372036854775808", "0x10", "+", "+-5", "--5"})
    EXPECT_EQ(parse_integer(word), std::nullopt) << word;
}

TEST(ParseNumber, ReadsWhatPythonReadsAndIsFinite) {
  EXPECT_EQ(parse_number("5e-5"), 5e-5);
  EXPECT_EQ(parse_number("2E-5"), 2e-5);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("3."), 3.0);
  EXPECT_EQ(parse_number("+0.1"), 0.1);
  for (const char* word : {"", "5e-5x", "5e", "nan", "inf", "-inf", "1e999", "0,1", "1_000"})
    EXPECT_EQ(parse_number(word), std::nullopt) << word;
}

TEST(ParseNames, SplitsAtCommasAndKeepsSingleWordsAsTheyAre) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parse_names({"a,b"}), (Names{"a", "b"}));
  EXPECT_EQ(parse_names({"a", "b"}), (Names{"a", "b"}));
  EXPECT_EQ(parse_names({"a, b", " c "}), (Names{"a", "b", " c "}));
  EXPECT_EQ(parse_names({"a,,b"}), (Names{"a", "", "b"}));
}

TEST(InQuotes, KeepsMessagesToOneShortLineOfWholeCharacters) {
  EXPECT_EQ(in_quotes("a\nb"), "\"a?b\"");
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "\"" + std::string(80, 'x') + "...\"");
  std::string accents = "x";
  for (int i = 0; i < 60; ++i) accents += "é";  // byte 80 is in the middle of one
  EXPECT_EQ(in_quotes(accents), "\"" + accents.substr(0, 79) + "...\"");
}

}  // namespace
}  // namespace ranktune::cli
