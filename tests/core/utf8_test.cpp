#include "ranktune/core/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace ranktune::core {
namespace {

constexpr std::size_t kValid = std::string_view::npos;

TEST(FindInvalidUtf8, AcceptsTheFirstAndLastOfEveryLength) {
  for (const std::string_view text :
       {std::string_view("\x00", 1), std::string_view("\x7F"), std::string_view("\xC2\x80"),
        std::string_view("\xDF\xBF"), std::string_view("\xE0\xA0\x80"), std::string_view("\xED\x9F\xBF"),
        std::string_view("\xEE\x80\x80"), std::string_view("\xEF\xBF\xBF"),
        std::string_view("\xF0\x90\x80\x80"), std::string_view("\xF4\x8F\xBF\xBF"), std::string_view()})
    EXPECT_EQ(find_invalid_utf8(text), kValid) << text;
}

TEST(FindInvalidUtf8, RefusesWhatLiesJustOutside) {
  const std::string_view cases[] = {
      "\x80",              // a continuation byte alone
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong U+007F
      "\xC2",              // cut off
      "\xC2\x7F",          // no continuation
      "\xC2\xC0",          // another lead byte instead
      "\xE0\x9F\xBF",      // overlong U+07FF
      "\xE1\x80",          // cut off
      "\xED\xA0\x80",      // first surrogate
      "\xED\xBF\xBF",      // last surrogate
      "\xF0\x8F\xBF\xBF",  // overlong U+FFFF
      "\xF1\x80\x80",      // cut off
      "\xF1\x80\x80\x41",  // no continuation
      "\xF4\x90\x80\x80",  // U+110000
      "\xF5\x80\x80\x80",  // no such lead byte
      "\xFE",
      "\xFF",
  };
  for (const std::string_view text : cases) EXPECT_EQ(find_invalid_utf8(text), 0U);
}

TEST(FindInvalidUtf8, GivesThePlaceAlsoBehindLongAsciiRuns) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string before(length, 'a');
    EXPECT_EQ(find_invalid_utf8(before), kValid);
    EXPECT_EQ(find_invalid_utf8(before + "\xFF" + "bcdefghijkl"), length);
    EXPECT_EQ(find_invalid_utf8(before + "\xC3\xA9" + "\xE2\x82"), length + 2);
  }
}

TEST(Utf8, EveryCodePointIsWrittenWellFormedAndReadBack) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, code_point);
    std::size_t position = 0;
    ASSERT_EQ(next_code_point(text, position), code_point);
    ASSERT_EQ(position, text.size());
    ASSERT_EQ(find_invalid_utf8(text), kValid);
  }
}

TEST(Utf8, SurrogatesAreNotWellFormed) {
  for (char32_t code_point = 0xD800; code_point <= 0xDFFF; ++code_point) {
    std::string text;
    append_utf8(text, code_point);
    EXPECT_EQ(find_invalid_utf8(text), 0U);
  }
}

TEST(NextCodePoint, WalksThroughMixedText) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80!";
  std::vector<char32_t> code_points;
  for (std::size_t position = 0; position < text.size();)
    code_points.push_back(next_code_point(text, position));
  EXPECT_EQ(code_points, (std::vector<char32_t>{'a', 0xE9, 0x20AC, 0x1F600, '!'}));
}

}  // namespace
}  // namespace ranktune::core
