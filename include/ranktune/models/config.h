#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// config.json: what Hugging Face says about a model.
namespace ranktune::models {

/// The functions between the two layers of a feed-forward block.
enum class Activation { gelu, gelu_tanh, relu, silu, tanh };

/// The fields that ranktune uses, under their Hugging Face names and with the defaults of transformers'
/// BertConfig.
struct ModelConfig {
  std::string model_type = "bert";
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  ///< absent: hidden_dropout_prob
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  double layer_norm_eps = 1e-12;
  std::optional<std::int64_t> pad_token_id = 0;
  double initializer_range = 0.02;
  std::string problem_type;  ///< "regression", "single_label_classification", ...; empty: not stated
  std::vector<std::string> id2label = {
      "LABEL_0", "LABEL_1"};  ///< entry i is the name of label i; label2id follows from it

  /// The file as it was read; to_json writes the keys back that have no field here. Empty: there was no file.
  std::string source = {};

  std::int64_t num_labels() const { return static_cast<std::int64_t>(id2label.size()); }
  Activation activation() const;
};

/// Reads and checks folder/config.json.
/// THROWS: DataError, with line and column where a key is at fault, for a file that is absent or no JSON, a
/// family that is not supported, values of the wrong type or that do not fit together.
ModelConfig read_model_config(const std::filesystem::path& folder);

/// Reads a config from its text; `file` is its name in messages. THROWS: as read_model_config.
ModelConfig parse_model_config(const std::string& text, const std::string& file);

/// Gives the labels 0, 1, ... these names. THROWS: Error when there are none or two are equal.
void set_labels(ModelConfig& config, std::vector<std::string> names);

/// The text of config.json as transformers 5.24 saves it for a sequence classifier that it has trained:
/// float32 weights, keys sorted, keys that have no field in ModelConfig kept, a line break at the end.
std::string to_json(const ModelConfig& config);

}  // namespace ranktune::models
