#include "ranktune/launch/error_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ranktune::launch {
namespace {

TEST(ErrorFile, ReadsWhatPythonWrites) {
  const auto record = parse_error_file(R"({"message": {"message": "ValueError: x", "extraInfo":
      {"py_callstack": "Traceback (most recent call last): ...", "timestamp": "1700000000"}}})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->message, "ValueError: x");
  EXPECT_EQ(record->timestamp, 1'700'000'000);
}

TEST(ErrorFile, ReadsAMessageThatIsText) {
  const auto record = parse_error_file(R"({"message": "SIGSEGV in step 3", "timestamp": 1700000001})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->message, "SIGSEGV in step 3");
  EXPECT_EQ(record->timestamp, 1'700'000'001);
  EXPECT_EQ(parse_error_file(R"({"message": "m"})")->timestamp, 0);
}

TEST(ErrorFile, IsNothingWhenItIsNoErrorFile) {
  for (const char* text : {"", "{", "[]", "3", R"({"messag": "x"})", R"({"message": 3})",
                           R"({"message": {}})", R"({"message": {"message": "x", "extraI)"})
    EXPECT_FALSE(parse_error_file(text)) << text;
}

TEST(ErrorFile, ComesBackAsWritten) {
  const ErrorRecord record = {"rank 1: \"all-reduce\" failed\nafter 3 s \xC3\xA9 \xFF", 1'700'000'002, 2,
                              true};
  const auto read = parse_error_file(error_file_text(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->message, "rank 1: \"all-reduce\" failed\nafter 3 s \xC3\xA9 \xEF\xBF\xBD");
  EXPECT_EQ(read->timestamp, record.timestamp);
  EXPECT_EQ(read->exit_code, 2);
  EXPECT_TRUE(read->follows_another);
}

TEST(ErrorFile, HasTheKeysThatTorchrunReads) {
  const auto file = nlohmann::json::parse(error_file_text({"m", 5}));
  EXPECT_EQ(file.at("message").at("message"), "m");
  EXPECT_EQ(file.at("message").at("extraInfo").at("timestamp"), "5");
  // torchrun prefers this to the message, even when it is empty.
  EXPECT_FALSE(file.at("message").at("extraInfo").contains("py_callstack"));
}

}  // namespace
}  // namespace ranktune::launch
