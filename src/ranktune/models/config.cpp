#include "ranktune/models/config.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/core/suggest.h"

namespace ranktune::models {
namespace {

using nlohmann::json;

struct FamilyRow {
  const char* model_type;
  const char* architecture;  ///< transformers' class for it
};
constexpr FamilyRow kFamilies[] = {{"bert", "BertForSequenceClassification"}};

struct ActivationRow {
  std::string_view name;
  Activation activation;
};
constexpr ActivationRow kActivations[] = {
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu_accurate", Activation::gelu_tanh},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"tanh", Activation::tanh},
};

const FamilyRow* find_family(const std::string& model_type) {
  const auto row = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                [&](const FamilyRow& family) { return family.model_type == model_type; });
  return row == std::end(kFamilies) ? nullptr : row;
}

const ActivationRow* find_activation(const std::string& name) {
  const auto row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                [&](const ActivationRow& entry) { return entry.name == name; });
  return row == std::end(kActivations) ? nullptr : row;
}

template <class Rows, class Name>
std::vector<std::string> names_of(const Rows& rows, Name name) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.*name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Takes typed values out of config.json; null counts as absent, as in transformers' files.
class ConfigReader {
 public:
  ConfigReader(const std::string& text, const std::string& file)
      : text_(text), file_(file), values_(core::parse_json(text, file)) {
    if (!values_.is_object())
      throw DataError({file_}, "is no JSON object; it should be a model's config.json");
  }

  const json* find(const std::string& key) const {
    const auto value = values_.find(key);
    return value == values_.end() || value->is_null() ? nullptr : &*value;
  }

  bool is_null(const std::string& key) const { return values_.contains(key) && values_[key].is_null(); }

  void read(const std::string& key, std::string& field) const {
    if (const json* value = find(key)) {
      if (!value->is_string()) fail(key, "should be a text, not " + value->dump());
      field = value->get<std::string>();
    }
  }

  void read(const std::string& key, std::int64_t& field) const {
    if (const json* value = find(key)) {
      if (!value->is_number_integer() || *value > INT32_MAX)
        fail(key, "should be a whole number, not " + value->dump());
      field = value->get<std::int64_t>();
    }
  }

  void read(const std::string& key, double& field) const {
    if (const json* value = find(key)) {
      if (!value->is_number()) fail(key, "should be a number, not " + value->dump());
      field = value->get<double>();
    }
  }

  /// The place of the key in the file, so that an editor can jump there.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    SourceLocation where{file_};
    const std::size_t position = text_.find('"' + key + '"');
    if (position != std::string::npos) {
      const std::string_view before = std::string_view(text_).substr(0, position);
      where.line = 1 + std::count(before.begin(), before.end(), '\n');
      where.column = static_cast<std::int64_t>(position - (before.rfind('\n') + 1)) + 1;
    }
    throw DataError(where, "'" + key + "' " + message);
  }

 private:
  const std::string& text_;
  const std::string& file_;
  json values_;
};

std::vector<std::string> default_labels(std::int64_t count) {
  std::vector<std::string> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
  return labels;
}

/// "id2label": {"0": name, ...}; without it "num_labels" counts unnamed labels.
std::vector<std::string> read_labels(const ConfigReader& reader) {
  const json* named = reader.find("id2label");
  if (named == nullptr) {
    std::int64_t count = 2;
    reader.read("num_labels", count);
    if (count < 1) reader.fail("num_labels", "should be at least 1, not " + std::to_string(count));
    return default_labels(count);
  }
  if (!named->is_object() || named->empty()) reader.fail("id2label", "should give each label number a name");
  std::vector<std::string> labels;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < named->size(); ++i) {
    const auto name = named->find(std::to_string(i));
    if (name == named->end())
      reader.fail("id2label", "has " + std::to_string(named->size()) + " labels but none with the number " +
                                  std::to_string(i) + "; number them 0, 1, 2, ... without a gap");
    if (!name->is_string())
      reader.fail("id2label", "should name label " + std::to_string(i) + " by a text, not " + name->dump());
    labels.push_back(name->get<std::string>());
    if (!seen.insert(labels.back()).second)
      reader.fail("id2label", "gives the name '" + labels.back() + "' to two labels; make the names differ");
  }
  return labels;
}

void check_family(const ConfigReader& reader, const ModelConfig& config) {
  const std::vector<std::string> supported = names_of(kFamilies, &FamilyRow::model_type);
  if (reader.find("model_type") == nullptr)
    reader.fail("model_type",
                "is missing, so the family of the model is unknown; supported: " + joined(supported));
  if (find_family(config.model_type) == nullptr)
    reader.fail("model_type", "is '" + config.model_type +
                                  "', a family that is not supported; supported: " + joined(supported));
}

void check_sizes(const ConfigReader& reader, const ModelConfig& config) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"vocab_size", config.vocab_size},
      {"hidden_size", config.hidden_size},
      {"num_hidden_layers", config.num_hidden_layers},
      {"num_attention_heads", config.num_attention_heads},
      {"intermediate_size", config.intermediate_size},
      {"max_position_embeddings", config.max_position_embeddings},
      {"type_vocab_size", config.type_vocab_size},
  };
  for (const auto& [key, size] : sizes)
    if (size < 1) reader.fail(key, "should be at least 1, not " + std::to_string(size));
  if (config.hidden_size % config.num_attention_heads != 0)
    reader.fail("num_attention_heads", "is " + std::to_string(config.num_attention_heads) +
                                           ", which does not divide 'hidden_size' " +
                                           std::to_string(config.hidden_size) +
                                           "; every head needs the same width");
  if (config.pad_token_id && (*config.pad_token_id < 0 || *config.pad_token_id >= config.vocab_size))
    reader.fail("pad_token_id", "is " + std::to_string(*config.pad_token_id) +
                                    ", outside the vocabulary of " + std::to_string(config.vocab_size));
}

void check_rates(const ConfigReader& reader, const ModelConfig& config) {
  const std::pair<const char*, double> rates[] = {
      {"hidden_dropout_prob", config.hidden_dropout_prob},
      {"attention_probs_dropout_prob", config.attention_probs_dropout_prob},
      {"classifier_dropout", config.classifier_dropout.value_or(0)},
  };
  for (const auto& [key, rate] : rates)
    if (!(rate >= 0 && rate < 1))
      reader.fail(key, "should be at least 0 and below 1, not " + core::python_float(rate));
  if (!(config.layer_norm_eps > 0) || std::isinf(config.layer_norm_eps))
    reader.fail("layer_norm_eps", "should be above 0, not " + core::python_float(config.layer_norm_eps));
  if (!(config.initializer_range >= 0) || std::isinf(config.initializer_range))
    reader.fail("initializer_range",
                "should be 0 or more, not " + core::python_float(config.initializer_range));
}

/// Settings that change what the model computes and that ranktune does not have: better refused than ignored.
void check_variant(const ConfigReader& reader, const ModelConfig& config) {
  const std::vector<std::string> names = names_of(kActivations, &ActivationRow::name);
  if (find_activation(config.hidden_act) == nullptr) {
    const std::string nearest = core::nearest_word(config.hidden_act, names);
    reader.fail("hidden_act", "is '" + config.hidden_act + "', which is not supported" +
                                  (nearest.empty() ? "" : "; did you mean '" + nearest + "'?") +
                                  " (supported: " + joined(names) + ")");
  }
  std::string position_type = "absolute";
  reader.read("position_embedding_type", position_type);
  if (position_type != "absolute")
    reader.fail("position_embedding_type",
                "is '" + position_type + "'; only absolute positions are supported");
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    const json* value = reader.find(key);
    if (value != nullptr && *value != false)
      reader.fail(key, "should be false: a classifier needs an encoder");
  }
}

/// Keys of old files that transformers does not write either, and those that are derived from our fields.
constexpr const char* kDroppedKeys[] = {"_name_or_path",       "_commit_hash",    "_attn_implementation",
                                        "attn_implementation", "finetuning_task", "torch_dtype",
                                        "num_labels",          "id2label",        "label2id",
                                        "problem_type"};

/// Keys that transformers writes only where the value differs from this.
json common_defaults() {
  return {{"chunk_size_feed_forward", 0},
          {"is_encoder_decoder", false},
          {"output_attentions", false},
          {"output_hidden_states", false},
          {"return_dict", true}};
}

json kept_keys(const ModelConfig& config) {
  json values = config.source.empty() ? json::object() : core::parse_json(config.source, "config.json");
  for (const char* key : kDroppedKeys) values.erase(key);
  const json defaults = common_defaults();
  for (const auto& [key, value] : defaults.items())
    if (values.contains(key) && values[key] == value) values.erase(key);
  for (const char* key : {"add_cross_attention", "is_decoder"}) values[key] = false;
  for (const char* key : {"bos_token_id", "eos_token_id"})
    if (!values.contains(key)) values[key] = nullptr;
  if (!values.contains("tie_word_embeddings")) values["tie_word_embeddings"] = true;
  return values;
}

/// A number as the file had it: 0 stays 0 and does not become 0.0.
void set_number(json& values, const char* key, double value) {
  if (!values.contains(key) || !values[key].is_number() || values[key].get<double>() != value)
    values[key] = value;
}

void set_fields(json& values, const ModelConfig& config) {
  values["model_type"] = config.model_type;
  values["architectures"] = {find_family(config.model_type)->architecture};
  values["vocab_size"] = config.vocab_size;
  values["hidden_size"] = config.hidden_size;
  values["num_hidden_layers"] = config.num_hidden_layers;
  values["num_attention_heads"] = config.num_attention_heads;
  values["intermediate_size"] = config.intermediate_size;
  values["hidden_act"] = config.hidden_act;
  set_number(values, "hidden_dropout_prob", config.hidden_dropout_prob);
  set_number(values, "attention_probs_dropout_prob", config.attention_probs_dropout_prob);
  if (config.classifier_dropout)
    set_number(values, "classifier_dropout", *config.classifier_dropout);
  else
    values["classifier_dropout"] = nullptr;
  values["max_position_embeddings"] = config.max_position_embeddings;
  values["type_vocab_size"] = config.type_vocab_size;
  set_number(values, "layer_norm_eps", config.layer_norm_eps);
  if (config.pad_token_id)
    values["pad_token_id"] = *config.pad_token_id;
  else
    values["pad_token_id"] = nullptr;
  set_number(values, "initializer_range", config.initializer_range);
  if (!config.problem_type.empty()) values["problem_type"] = config.problem_type;
  values["dtype"] = "float32";
  values["transformers_version"] = "5.24.0";  // the version whose rules the file follows
  values["use_cache"] = false;
}

/// Number -> name in the order of the numbers, which is Python's order for number keys.
nlohmann::ordered_json numbered(const std::vector<std::string>& labels) {
  nlohmann::ordered_json names = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) names[std::to_string(i)] = labels[i];
  return names;
}

}  // namespace

Activation ModelConfig::activation() const {
  const ActivationRow* row = find_activation(hidden_act);
  if (row == nullptr)
    throw CheckpointError("config.json: 'hidden_act' is '" + hidden_act + "', which is not supported");
  return row->activation;
}

ModelConfig parse_model_config(const std::string& text, const std::string& file) {
  const ConfigReader reader(text, file);
  ModelConfig config;
  config.source = text;
  reader.read("model_type", config.model_type);
  check_family(reader, config);
  reader.read("vocab_size", config.vocab_size);
  reader.read("hidden_size", config.hidden_size);
  reader.read("num_hidden_layers", config.num_hidden_layers);
  reader.read("num_attention_heads", config.num_attention_heads);
  reader.read("intermediate_size", config.intermediate_size);
  reader.read("hidden_act", config.hidden_act);
  reader.read("hidden_dropout_prob", config.hidden_dropout_prob);
  reader.read("attention_probs_dropout_prob", config.attention_probs_dropout_prob);
  if (reader.find("classifier_dropout") != nullptr)
    reader.read("classifier_dropout", config.classifier_dropout.emplace());
  reader.read("max_position_embeddings", config.max_position_embeddings);
  reader.read("type_vocab_size", config.type_vocab_size);
  reader.read("layer_norm_eps", config.layer_norm_eps);
  if (reader.is_null("pad_token_id"))
    config.pad_token_id.reset();
  else
    reader.read("pad_token_id", *config.pad_token_id);
  reader.read("initializer_range", config.initializer_range);
  reader.read("problem_type", config.problem_type);
  config.id2label = read_labels(reader);
  check_sizes(reader, config);
  check_rates(reader, config);
  check_variant(reader, config);
  return config;
}

ModelConfig read_model_config(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  return parse_model_config(core::read_file(file), file.string());
}

void set_labels(ModelConfig& config, std::vector<std::string> names) {
  if (names.empty()) throw Error("a classifier needs at least one label");
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end());
  if (twin != sorted.end())
    throw Error("the label '" + *twin + "' is there twice; make the names of labels differ");
  config.id2label = std::move(names);
}

std::string to_json(const ModelConfig& config) {
  json values = kept_keys(config);
  set_fields(values, config);
  const bool named = config.id2label != default_labels(2);  // transformers leaves its own default out
  if (named) {
    values["id2label"] = nullptr;  // holds the place
    for (std::size_t i = 0; i < config.id2label.size(); ++i) values["label2id"][config.id2label[i]] = i;
  }
  nlohmann::ordered_json ordered = nlohmann::ordered_json::object();
  for (const auto& [key, value] : values.items()) {
    if (named && key == "id2label")
      ordered[key] = numbered(config.id2label);
    else
      ordered[key] = value;
  }
  return core::to_python_json(ordered, {.indent = 2, .final_newline = true, .ascii = true});
}

}  // namespace ranktune::models
