#include "ranktune/models/config.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"
#include "ranktune/core/json.h"
#include "support/temporary_folder.h"

namespace ranktune::models {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kCases =
    std::filesystem::path(RANKTUNE_SOURCE_DIR) / "tests/fixtures/config/cases.json";

std::string with(const json& changes) {
  json values = {{"model_type", "bert"}};
  values.update(changes);
  return values.dump(2);
}

TEST(ParseModelConfig, TakesTransformersDefaultsForAbsentKeys) {
  const ModelConfig config = parse_model_config(R"({"model_type": "bert"})", "config.json");
  EXPECT_EQ(config.vocab_size, 30522);
  EXPECT_EQ(config.hidden_size, 768);
  EXPECT_EQ(config.num_hidden_layers, 12);
  EXPECT_EQ(config.num_attention_heads, 12);
  EXPECT_EQ(config.intermediate_size, 3072);
  EXPECT_EQ(config.activation(), Activation::gelu);
  EXPECT_EQ(config.hidden_dropout_prob, 0.1);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.1);
  EXPECT_EQ(config.classifier_dropout, std::nullopt);
  EXPECT_EQ(config.max_position_embeddings, 512);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(config.pad_token_id, 0);
  EXPECT_EQ(config.initializer_range, 0.02);
  EXPECT_EQ(config.problem_type, "");
  EXPECT_THAT(config.id2label, ElementsAre("LABEL_0", "LABEL_1"));
}

TEST(ParseModelConfig, ReadsValuesAndTakesNullForAbsent) {
  const ModelConfig config = parse_model_config(with({{"hidden_size", 384},
                                                      {"hidden_act", "gelu_new"},
                                                      {"classifier_dropout", 0},
                                                      {"pad_token_id", nullptr},
                                                      {"layer_norm_eps", 1e-5},
                                                      {"problem_type", nullptr},
                                                      {"id2label", {{"1", "b"}, {"0", "a"}, {"2", "c"}}}}),
                                                "config.json");
  EXPECT_EQ(config.hidden_size, 384);
  EXPECT_EQ(config.activation(), Activation::gelu_tanh);
  EXPECT_EQ(config.classifier_dropout, 0.0);
  EXPECT_EQ(config.pad_token_id, std::nullopt);
  EXPECT_EQ(config.layer_norm_eps, 1e-5);
  EXPECT_THAT(config.id2label, ElementsAre("a", "b", "c"));
  EXPECT_EQ(config.num_labels(), 3);
}

TEST(ParseModelConfig, CountsUnnamedLabels) {
  EXPECT_THAT(parse_model_config(with({{"num_labels", 3}}), "c").id2label,
              ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
}

TEST(ToJson, IsWhatTransformersSavesForATrainedClassifier) {
  for (const json& each : core::read_json_file(kCases)) {
    ModelConfig config = parse_model_config(each["input"], "config.json");
    if (!each["labels"].is_null()) set_labels(config, each["labels"].get<std::vector<std::string>>());
    config.problem_type = each["problem_type"].is_null() ? "" : each["problem_type"].get<std::string>();
    EXPECT_EQ(to_json(config), each["output"]) << each["name"];
  }
}

TEST(ToJson, ReadsBackTheSame) {
  for (const json& each : core::read_json_file(kCases)) {
    const std::string text = each["output"];
    EXPECT_EQ(to_json(parse_model_config(text, "config.json")), text) << each["name"];
  }
}

TEST(ToJson, ReplacesLabelsOfAnEarlierTask) {
  ModelConfig config = parse_model_config(with({{"id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}},
                                                {"label2id", {{"a", 0}, {"b", 1}, {"c", 2}}}}),
                                          "c");
  set_labels(config, {"no", "yes"});
  const json written = core::parse_json(to_json(config), "c");
  EXPECT_EQ(written["id2label"], (json{{"0", "no"}, {"1", "yes"}}));
  EXPECT_EQ(written["label2id"], (json{{"no", 0}, {"yes", 1}}));
}

TEST(SetLabels, RefusesNoneAndTwins) {
  ModelConfig config;
  EXPECT_THROW(set_labels(config, {}), Error);
  EXPECT_THROW(set_labels(config, {"a", "b", "a"}), Error);
  EXPECT_THAT(config.id2label, ElementsAre("LABEL_0", "LABEL_1"));
}

struct Fault {
  json changes;
  const char* message;
};

TEST(ParseModelConfig, RefusesWhatCannotBeMeantInOneLine) {
  const Fault faults[] = {
      {{{"model_type", "t5"}}, "'t5', a family that is not supported; supported: bert"},
      {{{"model_type", nullptr}}, "'model_type' is missing"},
      {{{"model_type", 3}}, "should be a text, not 3"},
      {{{"hidden_size", 0}}, "'hidden_size' should be at least 1, not 0"},
      {{{"num_hidden_layers", -1}}, "'num_hidden_layers' should be at least 1"},
      {{{"vocab_size", "30522"}}, "should be a whole number, not \"30522\""},
      {{{"vocab_size", 30522.5}}, "should be a whole number"},
      {{{"vocab_size", 1e18}}, "should be a whole number"},
      {{{"intermediate_size", 99999999999}}, "should be a whole number"},
      {{{"hidden_size", 100}, {"num_attention_heads", 12}}, "is 12, which does not divide 'hidden_size' 100"},
      {{{"hidden_dropout_prob", 1.0}}, "at least 0 and below 1, not 1.0"},
      {{{"classifier_dropout", -0.1}}, "'classifier_dropout' should be at least 0"},
      {{{"attention_probs_dropout_prob", "0.1"}}, "should be a number"},
      {{{"layer_norm_eps", 0}}, "should be above 0"},
      {{{"initializer_range", -1}}, "should be 0 or more"},
      {{{"pad_token_id", 30522}}, "outside the vocabulary of 30522"},
      {{{"hidden_act", "gelu_nwe"}}, "did you mean 'gelu_new'?"},
      {{{"hidden_act", "xielu"}}, "supported: gelu, "},
      {{{"position_embedding_type", "relative_key"}}, "only absolute positions"},
      {{{"is_decoder", true}}, "needs an encoder"},
      {{{"id2label", {{"0", "a"}, {"2", "b"}}}}, "none with the number 1"},
      {{{"id2label", {{"0", "a"}, {"1", "a"}}}}, "'a' to two labels"},
      {{{"id2label", {{"0", 7}}}}, "by a text, not 7"},
      {{{"id2label", json::object()}}, "each label number"},
      {{{"id2label", {"a", "b"}}}, "each label number"},
      {{{"num_labels", 0}}, "at least 1"},
  };
  for (const Fault& fault : faults) {
    const std::string text = with(fault.changes);
    try {
      parse_model_config(text, "config.json");
      ADD_FAILURE() << text << ": no error";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fault.message));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
      EXPECT_EQ(error.where().file, "config.json");
    }
  }
}

TEST(ReadModelConfig, NamesFileLineAndColumn) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("config.json", "{\n  \"model_type\": \"bert\",\n  \"hidden_size\": 0\n}\n");
  try {
    read_model_config(folder.path());
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(path.string() + ":3:3: 'hidden_size' "));
  }
  EXPECT_THROW(read_model_config(folder.path() / "absent"), DataError);
  folder.file("list/config.json", "[]");
  EXPECT_THROW(read_model_config(folder.path() / "list"), DataError);
  folder.file("torn/config.json", "{\"model_type\": \"be");
  EXPECT_THROW(read_model_config(folder.path() / "torn"), DataError);
}

}  // namespace
}  // namespace ranktune::models
