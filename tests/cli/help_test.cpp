#include "cli/help.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands.h"
#include "cli/predict_flags.h"
#include "cli/train_flags.h"

namespace ranktune::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// How often a flag is introduced: at the start of a line, or in one of the lists of names.
int introductions(const std::string& help, const std::string& name) {
  const std::string flag = "--" + name;
  int count = 0;
  bool in_list = false;
  for (const std::string& line : lines_of(help)) {
    if (!line.starts_with(' ')) in_list = line == kIgnoredGroup || line == kRefusedGroup;
    for (std::size_t at = line.find(flag); at != std::string::npos; at = line.find(flag, at + 1)) {
      const std::string after = line.substr(at + flag.size());
      const bool whole = after.empty() || after[0] == ' ' || after[0] == ',';
      if (whole && (in_list || at == 2) && line.starts_with("  ")) ++count;
    }
  }
  return count;
}

void expect_each_once(const FlagTable& table, const std::string& help) {
  for (const FlagGroup& group : table.groups())
    for (const Flag& flag : group.flags) EXPECT_EQ(introductions(help, flag.name), 1) << flag.name;
}

TEST(Help, IntroducesEveryFlagOnce) {
  train::TextClassificationArguments arguments;
  PlaceArguments place;
  expect_each_once(train_flags(arguments, place), train_help());
  train::PredictArguments predict;
  bool disable_tqdm = false;
  expect_each_once(predict_flags(predict, disable_tqdm), predict_help());
}

TEST(Help, FitsAHundredColumns) {
  for (const std::string& text : {train_help(), predict_help(), general_help()}) {
    EXPECT_TRUE(text.ends_with('\n'));
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), kHelpColumns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(Help, ShowsDefaultsAndOlderNames) {
  const std::string text = train_help();
  EXPECT_NE(text.find("  --learning_rate X                 peak learning rate of AdamW (default: 5e-05)\n"),
            std::string::npos);
  EXPECT_NE(text.find("  --save_strategy no|steps|epoch    when to save during training (default: steps)\n"),
            std::string::npos);
  EXPECT_NE(text.find("(also --no_cuda)"), std::string::npos);
  EXPECT_NE(text.find("  --pad_to_max_length               accepted, but nothing is ever padded\n"),
            std::string::npos);
}

TEST(Help, ListsEveryVerb) {
  for (const std::string& verb : verbs())
    EXPECT_NE(general_help().find("\n  " + verb + " "), std::string::npos) << verb;
}

TEST(Wrapped, BreaksAtBlanksAndIndents) {
  const std::string word(60, 'x');
  EXPECT_EQ(wrapped(word + " y " + word, 4, 0), word + " y\n    " + word + "\n");
  EXPECT_EQ(wrapped("a b", 4, 97), "a b\n");
  EXPECT_EQ(wrapped("a bc", 4, 97), "a\n    bc\n");
  EXPECT_EQ(wrapped(std::string(120, 'x'), 4, 36), std::string(120, 'x') + "\n");  // nothing to break
}

}  // namespace
}  // namespace ranktune::cli
