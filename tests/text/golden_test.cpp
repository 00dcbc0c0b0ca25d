// Texts whose ids other projects recorded with the Python tokenizers of real models.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/text/tokenizer.h"
#include "support/temporary_folder.h"

namespace ranktune::text {
namespace {

using nlohmann::json;

const std::filesystem::path kTokenizers = std::filesystem::path(RANKTUNE_SHARED_DIR) / "data" / "tokenizers";

#define SKIP_WITHOUT_GOLDEN_FILES() \
  if (!std::filesystem::exists(kTokenizers / "golden")) GTEST_SKIP() << "no " << kTokenizers / "golden"

json read_golden(const std::string& name) {
  return core::read_json_file(kTokenizers / "golden" / name);
}

/// The tokenizer of a folder of vocabularies without tokenizer_config.json.
std::unique_ptr<Tokenizer> load_vocabulary(const std::string& folder, bool lowercase) {
  const tests::TemporaryFolder copy;
  copy.file("vocab.txt", core::read_file(kTokenizers / folder / "vocab.txt"));
  copy.file("tokenizer_config.json", json({{"do_lower_case", lowercase}}).dump());
  return load_tokenizer(copy.path());
}

std::vector<std::int32_t> encode(const Tokenizer& tokenizer, const json& text, const json& pair = nullptr) {
  Encoding encoding;
  const std::string first = text;
  const std::string second = pair.is_null() ? "" : pair.get<std::string>();
  tokenizer.encode(first, pair.is_null() ? std::nullopt : std::optional<std::string_view>(second), 100000,
                   encoding);
  return encoding.ids;
}

TEST(Golden, AllQuestionsOfSquad) {
  SKIP_WITHOUT_GOLDEN_FILES();
  const json questions = read_golden("swift-transformers/question_tokens.json");
  const json ids = read_golden("swift-transformers/tokenized_questions.json");
  ASSERT_EQ(questions.size(), 10570U);
  ASSERT_EQ(ids.size(), questions.size());
  for (const auto& tokenizer :
       {load_vocabulary("bert-base-uncased", true), load_tokenizer(kTokenizers / "bert-base-uncased")}) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      auto expected = ids[i].get<std::vector<std::int32_t>>();
      expected.insert(expected.begin(), 101);
      expected.push_back(102);
      ASSERT_EQ(encode(*tokenizer, questions[i].at("original")), expected) << questions[i].at("original");
    }
  }
}

TEST(Golden, LongFrenchText) {
  SKIP_WITHOUT_GOLDEN_FILES();
  const auto uncased = load_tokenizer(kTokenizers / "bert-base-uncased");
  const json one = read_golden("swift-transformers/bert_uncased_encoded.json");
  EXPECT_EQ(encode(*uncased, one.at("text")), one.at("token_ids").get<std::vector<std::int32_t>>());
  const auto cased = load_vocabulary("bert-base-multilingual-cased", false);
  const json other = read_golden("swift-transformers/distilbert_cased_encoded.json");
  EXPECT_EQ(encode(*cased, other.at("text")), other.at("token_ids").get<std::vector<std::int32_t>>());
}

/// The models in `golden` whose vocabulary is in a folder here; each case must give the recorded ids.
TEST(Golden, CasesOfManyModels) {
  SKIP_WITHOUT_GOLDEN_FILES();
  struct Model {
    std::string file, name, folder;
    bool lowercase;
  };
  const std::vector<Model> models{
      {"bert", "Xenova/bert-base-uncased", "bert-base-uncased", true},
      {"bert", "Xenova/bert-base-cased", "bert-base-cased", false},
      {"bert", "google-bert/bert-base-cased", "bert-base-cased", false},
      {"bert", "Xenova/spanbert-large-cased", "bert-base-cased", true},
      {"bert", "Xenova/bert-base-multilingual-cased-ner-hrl", "bert-base-multilingual-cased", false},
      {"bert", "Xenova/bge-small-zh-v1.5", "bert-base-chinese", false},
      {"bert", "Xenova/bge-base-zh-v1.5", "bert-base-chinese", true},
      {"distilbert", "Xenova/distilbert-base-cased-distilled-squad", "bert-base-cased", false},
      {"distilbert", "Xenova/distilbert-base-uncased-finetuned-sst-2-english", "bert-base-uncased", true},
      {"distilbert", "Xenova/distiluse-base-multilingual-cased-v2", "bert-base-multilingual-cased", false},
      {"distilbert", "distilbert/distilbert-base-multilingual-cased", "bert-base-multilingual-cased", false},
  };
  std::size_t cases = 0;
  for (const Model& model : models) {
    const auto tokenizer = load_vocabulary(model.folder, model.lowercase);
    const json golden = read_golden("transformers.js/" + model.file + ".json");
    for (const auto& entry : golden.at(model.name)) {
      const json pair = entry.value("text_pair", json());
      EXPECT_EQ(encode(*tokenizer, entry.at("text"), pair), entry.at("ids").get<std::vector<std::int32_t>>())
          << model.name << ": " << entry.at("text");
      ++cases;
    }
  }
  EXPECT_EQ(cases, 139U);
}

TEST(Golden, MultilingualTokenizerJson) {
  SKIP_WITHOUT_GOLDEN_FILES();
  const auto tokenizer = load_tokenizer(kTokenizers / "bert-multilingual-uncased");
  EXPECT_EQ(tokenizer->vocab_size(), 105879);
  const json models = read_golden("transformers.js/bert.json");
  for (const auto& entry : models.at("Xenova/bert-base-multilingual-uncased-sentiment"))
    EXPECT_EQ(encode(*tokenizer, entry.at("text")), entry.at("ids").get<std::vector<std::int32_t>>());
}

TEST(Golden, HardStrings) {
  SKIP_WITHOUT_GOLDEN_FILES();
  const json models = read_golden("swift-transformers/tokenizer_tests.json");
  const std::map<std::string, std::unique_ptr<Tokenizer>> tokenizers = [] {
    std::map<std::string, std::unique_ptr<Tokenizer>> map;
    map["bert-base-uncased"] = load_vocabulary("bert-base-uncased", true);
    map["google-bert/bert-base-uncased"] = load_tokenizer(kTokenizers / "bert-base-uncased");
    map["distilbert/distilbert-base-multilingual-cased"] =
        load_vocabulary("bert-base-multilingual-cased", false);
    return map;
  }();
  for (const auto& [name, tokenizer] : tokenizers) {
    ASSERT_EQ(models.at(name).size(), 18U);
    for (const auto& entry : models.at(name))
      EXPECT_EQ(encode(*tokenizer, entry.at("input")),
                entry.at("encoded").at("input_ids").get<std::vector<std::int32_t>>())
          << name << ": " << entry.at("input");
  }
}

}  // namespace
}  // namespace ranktune::text
