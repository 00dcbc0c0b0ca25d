#include "ranktune/core/suggest.h"

#include <gtest/gtest.h>

namespace ranktune::core {
namespace {

const std::vector<std::string> kFlags = {"learning_rate", "num_train_epochs", "max_seq_length",
                                         "seed",          "do_train",         "do_eval"};

TEST(NearestWord, FindsTheFlagBehindASlip) {
  EXPECT_EQ(nearest_word("learning_rat", kFlags), "learning_rate");
  EXPECT_EQ(nearest_word("num_epochs", kFlags), "");  // six letters are missing: no guess
  EXPECT_EQ(nearest_word("num_train_epoch", kFlags), "num_train_epochs");
  EXPECT_EQ(nearest_word("soud", kFlags), "");      // two of four letters differ
  EXPECT_EQ(nearest_word("sede", kFlags), "seed");  // neighbours swapped: one slip
  EXPECT_EQ(nearest_word("sed", kFlags), "seed");
}

TEST(NearestWord, TakesHyphensForUnderscores) {
  EXPECT_EQ(nearest_word("max-seq-length", kFlags), "max_seq_length");
}

TEST(NearestWord, KeepsTheFirstOfEqualCandidatesAndStaysSilentWithoutAny) {
  EXPECT_EQ(nearest_word("cat", {"bat", "rat"}), "bat");
  EXPECT_EQ(nearest_word("zzzzzz", kFlags), "");
  EXPECT_EQ(nearest_word("seed", {}), "");
}

}  // namespace
}  // namespace ranktune::core
