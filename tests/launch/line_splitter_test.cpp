#include "ranktune/launch/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ranktune::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LineSplitterTest : public ::testing::Test {
 protected:
  void add(std::string_view bytes) { splitter_.add(bytes, emit_); }
  void finish() { splitter_.finish(emit_); }

  LineSplitter splitter_{8};
  std::vector<std::string> lines_;
  LineSplitter::Emit emit_ = [this](std::string_view line) { lines_.emplace_back(line); };
};

TEST_F(LineSplitterTest, PutsPiecesTogether) {
  add("on");
  add("e\ntwo\n\nth");
  EXPECT_THAT(lines_, ElementsAre("one", "two", ""));
  add("ree\n");
  EXPECT_EQ(lines_.back(), "three");
}

TEST_F(LineSplitterTest, TakesALastLineWithoutItsBreak) {
  add("last");
  EXPECT_THAT(lines_, IsEmpty());
  finish();
  EXPECT_THAT(lines_, ElementsAre("last"));
  finish();
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LineSplitterTest, CutsLinesAboveTheLimit) {
  add("12345678abcdefgh9\nshort\n");
  EXPECT_THAT(lines_, ElementsAre("12345678", "abcdefgh", "9", "short"));
}

TEST_F(LineSplitterTest, LeavesALineOfTheLimitWhole) {
  add("12345678\n");
  EXPECT_THAT(lines_, ElementsAre("12345678"));
}

TEST_F(LineSplitterTest, CutsBetweenCharacters) {
  add("1234567\xC3\xA9z\n");  // the letter of two bytes would begin at the eighth
  EXPECT_THAT(lines_, ElementsAre("1234567", "\xC3\xA9z"));
  add("\xA9\xA9\xA9\xA9\xA9\xA9\xA9\xA9\xA9\xA9\n");  // no text at all
  EXPECT_EQ(lines_.back(), "\xA9\xA9");
}

TEST_F(LineSplitterTest, DropsTheReturnOfWindows) {
  add("one\r\ntwo\r");
  add("\n");
  EXPECT_THAT(lines_, ElementsAre("one", "two"));
}

TEST_F(LineSplitterTest, KeepsOfAProgressBarWhatATerminalWouldShow) {
  add("\r 10%");
  EXPECT_FALSE(splitter_.shows_progress());  // nothing has been overwritten yet
  add("\r 20%");
  EXPECT_TRUE(splitter_.shows_progress());
  EXPECT_EQ(splitter_.new_progress(), " 20%");
  EXPECT_EQ(splitter_.new_progress(), "");
  add("\r100%\n");
  EXPECT_THAT(lines_, ElementsAre("100%"));
  EXPECT_FALSE(splitter_.shows_progress());
  EXPECT_EQ(splitter_.new_progress(), "");
}

TEST_F(LineSplitterTest, DoesNotRepeatAStateThatWasShown) {
  add("50%\r100%\r");
  EXPECT_EQ(splitter_.new_progress(), "100%");
  add("\nnext\n");
  EXPECT_THAT(lines_, ElementsAre("next"));
}

TEST_F(LineSplitterTest, DoesNotShowALineThatIsOnlySlow) {
  add("slow");
  EXPECT_EQ(splitter_.new_progress(), "");
}

}  // namespace
}  // namespace ranktune::launch
