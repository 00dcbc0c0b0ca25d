#include "ranktune/train/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

models::ModelConfig config_with(std::vector<std::string> labels) {
  models::ModelConfig config;
  config.id2label = std::move(labels);
  return config;
}

std::vector<std::string> matched(const std::vector<std::string>& model,
                                 const std::vector<std::string>& data) {
  core::NullLogger logger;
  return labels_of_model(config_with(model), data::LabelSet(data), logger).names();
}

TEST(TaskOf, IsARegressionWithOneOutput) {
  models::ModelConfig config = config_with({"LABEL_0"});
  EXPECT_EQ(task_of(config, "m"), data::TaskKind::regression);
  config = config_with({"a", "b"});
  EXPECT_EQ(task_of(config, "m"), data::TaskKind::classification);
  config.problem_type = "multi_label_classification";
  EXPECT_THAT(tests::error_text<CheckpointError>([&] { task_of(config, "m"); }),
              testing::StartsWith("m/config.json: problem_type is multi_label_classification"));
}

TEST(LabelsOfModel, KeepsTheModelsIds) {
  EXPECT_THAT(matched({"sad", "glad", "calm"}, {"glad", "sad"}), ElementsAre("sad", "glad", "calm"));
  EXPECT_THAT(matched({"POSITIVE", "NEGATIVE"}, {"negative", "positive"}),
              ElementsAre("positive", "negative"));
}

TEST(LabelsOfModel, TakesIdsForLabelsWhenTheModelHasNoNames) {
  EXPECT_THAT(matched({"LABEL_0", "LABEL_1", "LABEL_2"}, {"0", "2"}), ElementsAre("0", "1", "2"));
  EXPECT_THAT(matched({"LABEL_0", "LABEL_1"}, {"no", "yes"}), ElementsAre("no", "yes"));
}

TEST(LabelsOfModel, RefusesLabelsThatTheModelDoesNotKnow) {
  EXPECT_THAT(tests::error_text<UsageError>([] {
                matched({"sad", "glad"}, {"x", "y", "z"});
              }),
              HasSubstr("the model has 2 labels"));
}

/// A tokenizer by its figures.
struct FakeTokenizer final : text::Tokenizer {
  FakeTokenizer(std::int64_t size, std::optional<std::int64_t> longest) : size_(size), longest_(longest) {}
  void encode(std::string_view, std::optional<std::string_view>, std::int64_t,
              text::Encoding&) const override {}
  std::int64_t vocab_size() const override { return size_; }
  std::optional<std::int64_t> model_max_length() const override { return longest_; }
  std::int64_t size_;
  std::optional<std::int64_t> longest_;
};

TEST(RequireModelFolder, SaysThatModelsAreReadFromFolders) {
  EXPECT_NO_THROW(require_model_folder(RANKTUNE_SOURCE_DIR, "--model"));
  EXPECT_THAT(tests::error_text<UsageError>([] { require_model_folder("bert-base-uncased", "--model"); }),
              testing::AllOf(HasSubstr("--model bert-base-uncased: there is no such folder"),
                             HasSubstr("not from a hub")));
}

TEST(RequireVocabularyFits, ComparesIdsWithTheRowsOfTheEmbedding) {
  models::ModelConfig config;
  config.vocab_size = 100;
  EXPECT_NO_THROW(require_vocabulary_fits(FakeTokenizer(100, {}), config, "m"));
  EXPECT_THAT(tests::error_text<CheckpointError>(
                  [&] { require_vocabulary_fits(FakeTokenizer(101, {}), config, "m"); }),
              testing::AllOf(HasSubstr("ids up to 100"), HasSubstr("only 100 rows")));
}

TEST(AllowedLength, IsCutToWhatModelAndTokenizerTake) {
  core::NullLogger logger;
  models::ModelConfig config;
  config.max_position_embeddings = 64;
  EXPECT_EQ(allowed_length(16, FakeTokenizer(1, 512), config, logger), 16);
  EXPECT_EQ(allowed_length(128, FakeTokenizer(1, 512), config, logger), 64);
  EXPECT_EQ(allowed_length(128, FakeTokenizer(1, 32), config, logger), 32);
  EXPECT_EQ(allowed_length(128, FakeTokenizer(1, {}), config, logger), 64);
}

}  // namespace
}  // namespace ranktune::train
