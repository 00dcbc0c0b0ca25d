// BERT against what transformers computes from the same files (scripts/make_fixtures.py).
#include "ranktune/models/bert.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <fstream>
#include <numeric>

#include "ranktune/core/error.h"
#include "ranktune/models/sequence_classifier.h"
#include "support/fixture.h"
#include "support/temporary_folder.h"

namespace ranktune::models {
namespace {

using tests::fixture_path;
using tests::TokenRow;

TokenBatch pack(const std::vector<TokenRow>& rows, std::int64_t first_row = 0) {
  std::vector<std::int64_t> ids, type_ids, offsets{0}, numbers;
  for (const TokenRow& row : rows) {
    ids.insert(ids.end(), row.ids.begin(), row.ids.end());
    type_ids.insert(type_ids.end(), row.type_ids.begin(), row.type_ids.end());
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
    numbers.push_back(first_row + static_cast<std::int64_t>(numbers.size()));
  }
  return make_token_batch(ids, type_ids, offsets, numbers, at::kCPU);
}

LoadedModel load(const std::string& fixture, const LoadOptions& options = {}) {
  return load_sequence_classifier(fixture_path(fixture), options);
}

double largest_difference(const at::Tensor& actual, const std::vector<float>& expected) {
  const at::Tensor dense = actual.is_sparse() ? actual.to_dense() : actual;
  const at::Tensor flat = dense.detach().reshape({-1}).contiguous();
  EXPECT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size()));
  return (flat - at::tensor(expected)).abs().max().item<double>();
}

/// A copy of a fixture folder whose config.json has `from` replaced by `to`.
class ChangedConfig {
 public:
  ChangedConfig(const std::string& fixture, const std::string& from, const std::string& to) {
    std::filesystem::copy(fixture_path(fixture), folder_.path(), std::filesystem::copy_options::recursive);
    std::string text = core::read_file(folder_.path() / "config.json");
    text.replace(text.find(from), from.size(), to);
    folder_.file("config.json", text);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  tests::TemporaryFolder folder_;
};

TEST(Bert, GivesEveryTokensHiddenState) {
  const auto fixture = tests::read_fixture("forward.json");
  const LoadedModel loaded = load("tiny_bert_classifier");
  const auto& model = dynamic_cast<const BertForSequenceClassification&>(*loaded.model);
  std::vector<float> expected;
  for (const auto& row : fixture.at("last_hidden_states"))
    for (const float value : row.get<std::vector<float>>()) expected.push_back(value);
  EXPECT_LE(largest_difference(model.hidden_states(pack(tests::token_rows(fixture)), {}), expected), 1e-5);
}

TEST(Bert, GivesTheLogitsOfEveryActivation) {
  const auto fixture = tests::read_fixture("forward.json");
  const TokenBatch batch = pack(tests::token_rows(fixture));
  for (const std::string activation : {"gelu", "gelu_new", "relu"}) {
    const ChangedConfig folder("tiny_bert_classifier", "\"gelu\"", '"' + activation + '"');
    const at::Tensor logits = load_sequence_classifier(folder.path(), {}).model->forward(batch, {});
    EXPECT_LE(largest_difference(logits, fixture.at("logits_" + activation).get<std::vector<float>>()), 1e-5)
        << activation;
  }
}

TEST(Bert, GivesARowTheSameLogitsAloneAndInAnyBatch) {
  const std::vector<TokenRow> rows = tests::token_rows(tests::read_fixture("forward.json"));
  const LoadedModel loaded = load("tiny_bert_classifier");
  const at::Tensor together = loaded.model->forward(pack(rows), {});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const at::Tensor alone = loaded.model->forward(pack({rows[i]}), {});
    EXPECT_LE((alone[0] - together[static_cast<std::int64_t>(i)]).abs().max().item<double>(), 1e-6) << i;
  }
}

TEST(Bert, DropsTheSameElementsOfARowInAnyBatch) {
  const std::vector<TokenRow> rows = tests::token_rows(tests::read_fixture("forward.json"));
  const ChangedConfig folder("tiny_bert_classifier", "\"hidden_dropout_prob\": 0.0",
                             "\"hidden_dropout_prob\": 0.3");
  const LoadedModel loaded = load_sequence_classifier(folder.path(), {});
  const ForwardContext context{true, 42, 5};
  const at::Tensor together = loaded.model->forward(pack(rows), context);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const at::Tensor alone = loaded.model->forward(pack({rows[i]}, number), context);
    EXPECT_LE((alone[0] - together[number]).abs().max().item<double>(), 1e-5) << i;
  }
  const at::Tensor next_step = loaded.model->forward(pack(rows), {true, 42, 6});
  EXPECT_GT((next_step - together).abs().max().item<double>(), 1e-3);
}

void expect_gradients(const SequenceClassifier& model, const at::Tensor& loss, const nlohmann::json& expected,
                      const std::string& file) {
  EXPECT_NEAR(loss.item<double>(), expected.at("loss").get<double>(), 1e-6);
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : model.named_parameters()) parameters.push_back(parameter);
  const auto gradients = torch::autograd::grad({loss}, parameters);
  const auto fixture = tests::read_tensors(fixture_path(file));
  ASSERT_EQ(fixture.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = model.named_parameters()[i].first;
    EXPECT_LE(largest_difference(gradients[i], fixture.at(name).values), 2e-6) << name;
  }
}

TEST(Bert, SendsGradientsToAllParametersInClassification) {
  const auto fixture = tests::read_fixture("gradients.json");
  const LoadedModel loaded = load("tiny_bert_classifier");
  const auto& expected = fixture.at("classification");
  const at::Tensor labels = at::tensor(expected.at("labels").get<std::vector<std::int64_t>>(), at::kLong);
  const at::Tensor logits = loaded.model->forward(pack(tests::token_rows(fixture)), {});
  EXPECT_LE(largest_difference(logits, expected.at("logits").get<std::vector<float>>()), 1e-5);
  expect_gradients(*loaded.model, at::cross_entropy_loss(logits, labels), expected,
                   "gradients_classification.safetensors");
}

TEST(Bert, SendsGradientsToAllParametersInRegression) {
  const auto fixture = tests::read_fixture("gradients.json");
  const LoadedModel loaded = load("tiny_bert", {.labels = {"LABEL_0"}, .problem_type = "regression"});
  const auto& expected = fixture.at("regression");
  EXPECT_EQ(largest_difference(loaded.model->named_parameters().end()[-2].second,
                               expected.at("head_weight").get<std::vector<float>>()) <= 3e-8,
            true);
  const at::Tensor targets = at::tensor(expected.at("labels").get<std::vector<float>>());
  const at::Tensor logits = loaded.model->forward(pack(tests::token_rows(fixture)), {});
  expect_gradients(*loaded.model, at::mse_loss(logits.squeeze(1), targets), expected,
                   "gradients_regression.safetensors");
}

TEST(Bert, TakesAnEmptyBatch) {
  const LoadedModel loaded = load("tiny_bert_classifier");
  const at::Tensor logits = loaded.model->forward(pack({}), {true, 1, 1});
  EXPECT_EQ(logits.sizes(), at::IntArrayRef({0, 3}));
  logits.sum().backward();
  for (const auto& [name, parameter] : loaded.model->named_parameters())
    EXPECT_EQ(parameter.grad().abs().sum().item<double>(), 0) << name;
}

TEST(LoadedBert, GetsTheHeadThatTransformersDraws) {
  const tests::TrainingRun run = tests::read_training_run("golden");
  const LoadedModel loaded = load("tiny_bert", {.labels = run.labels, .seed = 42});
  const auto& parameters = loaded.model->named_parameters();
  EXPECT_EQ(parameters.end()[-2].first, "classifier.weight");
  EXPECT_LE(largest_difference(parameters.end()[-2].second, run.head_weight), 3e-8);
  EXPECT_EQ(parameters.back().second.abs().sum().item<double>(), 0);
  EXPECT_EQ(loaded.initialized, (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
  EXPECT_TRUE(loaded.unused.empty());
}

TEST(LoadedBert, RefusesAHeadOfAnotherSizeUnlessToldOtherwise) {
  const LoadOptions options{.labels = {"a", "b", "c", "d"}};
  try {
    load("tiny_bert_classifier", options);
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("classifier.weight has shape [3, 16], the model needs [4, 16]"),
              std::string::npos)
        << error.what();
  }
  LoadOptions fresh = options;
  fresh.ignore_mismatched_sizes = true;
  EXPECT_EQ(load("tiny_bert_classifier", fresh).initialized,
            (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
}

TEST(LoadedBert, SaysWhichFileIsMissing) {
  const tests::TemporaryFolder folder;
  std::filesystem::copy_file(fixture_path("tiny_bert/config.json"), folder.path() / "config.json");
  EXPECT_THROW(load_sequence_classifier(folder.path(), {}), CheckpointError);
  folder.file("model.safetensors", "short");
  EXPECT_THROW(load_sequence_classifier(folder.path(), {}), DataError);
}

TEST(SavedBert, IsReadBackBitForBit) {
  const tests::TemporaryFolder folder;
  const LoadedModel loaded =
      load("tiny_bert", {.labels = {"no", "yes"}, .problem_type = "single_label_classification"});
  save_sequence_classifier(*loaded.model, folder.path());
  const LoadedModel again = load_sequence_classifier(folder.path(), {});
  EXPECT_TRUE(again.initialized.empty());
  EXPECT_EQ(again.model->config().id2label, (std::vector<std::string>{"no", "yes"}));
  const auto& before = loaded.model->named_parameters();
  const auto& after = again.model->named_parameters();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].first, after[i].first);
    EXPECT_TRUE(at::equal(before[i].second, after[i].second)) << before[i].first;
  }
}

TEST(ReplicatedBert, SharesNothingWithTheOriginal) {
  const LoadedModel loaded = load("tiny_bert_classifier");
  const auto copy = replicate(*loaded.model, at::kCPU);
  const TokenBatch batch = pack(tests::token_rows(tests::read_fixture("forward.json")));
  EXPECT_TRUE(at::equal(copy->forward(batch, {}), loaded.model->forward(batch, {})));
  {
    const at::NoGradGuard no_gradients;
    loaded.model->named_parameters().back().second.fill_(3.0);
  }
  EXPECT_FALSE(at::equal(copy->forward(batch, {}), loaded.model->forward(batch, {})));
}

}  // namespace
}  // namespace ranktune::models
