#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/models/bert.h"
#include "ranktune/models/safetensors.h"
#include "ranktune/models/sequence_classifier.h"

namespace ranktune::models {
namespace {

/// What a model family brings. Another family is another row of kFamilies.
struct Family {
  std::string_view model_type;
  std::string_view base_prefix;  ///< files of the bare encoder lack it
  std::vector<ParameterShape> (*parameter_shapes)(const ModelConfig&);
  std::unique_ptr<SequenceClassifier> (*make)(ModelConfig, NamedTensors);
};

constexpr Family kFamilies[] = {
    {"bert", "bert.", BertForSequenceClassification::parameter_shapes,
     [](ModelConfig config, NamedTensors parameters) -> std::unique_ptr<SequenceClassifier> {
       return std::make_unique<BertForSequenceClassification>(std::move(config), std::move(parameters));
     }},
};

const Family& family_of(const ModelConfig& config, const std::filesystem::path& folder) {
  for (const Family& family : kFamilies)
    if (family.model_type == config.model_type) return family;
  throw CheckpointError((folder / "config.json").string() + ": model_type \"" + config.model_type +
                        "\" is not supported: use a BERT model");
}

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return at::kDouble;
    case DType::f32:
      return at::kFloat;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    case DType::i64:
      return at::kLong;
    case DType::i32:
      return at::kInt;
    case DType::i16:
      return at::kShort;
    case DType::i8:
      return at::kChar;
    case DType::u8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
  }
  TORCH_INTERNAL_ASSERT(false, "every dtype has its case above");
}

/// A float32 copy of a tensor of the file, whatever its type there.
at::Tensor read_tensor(const SafetensorsFile& file, const TensorInfo& info) {
  const std::span<const std::byte> bytes = file.bytes(info);
  at::Tensor raw = at::empty(info.shape, scalar_type(info.dtype));
  if (!bytes.empty()) std::memcpy(raw.mutable_data_ptr(), bytes.data(), bytes.size());
  return raw.to(at::kFloat);
}

/// Names under which a file may hold a parameter: as it is, without the family's prefix, and with the names
/// that layer norms had before 2020.
std::vector<std::string> names_in_files(const std::string& name, std::string_view prefix) {
  std::vector<std::string> names{name};
  if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  const std::size_t count = names.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string known = names[i];  // a copy: push_back moves the vector
    for (const auto& [now, once] :
         {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}})
      if (known.ends_with(now)) names.push_back(known.substr(0, known.size() - std::strlen(now)) + once);
  }
  return names;
}

const TensorInfo* find_parameter(const SafetensorsFile& file, const std::string& name,
                                 std::string_view prefix) {
  for (const std::string& candidate : names_in_files(name, prefix))
    if (const TensorInfo* found = file.find(candidate)) return found;
  return nullptr;
}

/// Fresh values as transformers gives them: weights normal(0, initializer_range), the padding token's row 0,
/// biases 0, norms 1 and 0. Draws come from `generator` in the order of the calls.
at::Tensor initial_value(const ParameterShape& parameter, const ModelConfig& config,
                         at::Generator& generator) {
  if (parameter.name.ends_with(".bias")) return at::zeros(parameter.shape, at::kFloat);
  if (parameter.name.ends_with("LayerNorm.weight")) return at::empty(parameter.shape, at::kFloat).fill_(1.0);
  at::Tensor value = at::empty(parameter.shape, at::kFloat).normal_(0.0, config.initializer_range, generator);
  if (parameter.name.ends_with("word_embeddings.weight") && config.pad_token_id)
    value.select(0, *config.pad_token_id).zero_();
  return value;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Reads what the file has, draws what it lacks, and keeps the record of both.
class ParameterReader {
 public:
  ParameterReader(const std::filesystem::path& path, const Family& family, const LoadOptions& options)
      : path_(path),
        file_(path),
        family_(family),
        options_(options),
        generator_(at::detail::createCPUGenerator(options.seed)) {}

  NamedTensors read(const ModelConfig& config, LoadedModel& record) {
    NamedTensors parameters;
    std::set<std::string> used;
    for (const ParameterShape& parameter : family_.parameter_shapes(config)) {
      const TensorInfo* info = find_parameter(file_, parameter.name, family_.base_prefix);
      if (info != nullptr) used.insert(info->name);
      if (info != nullptr && info->shape != parameter.shape) {
        require_mismatch_is_wanted(parameter, *info);
        info = nullptr;
      }
      if (info == nullptr) record.initialized.push_back(parameter.name);
      parameters.emplace_back(parameter.name, info != nullptr ? read_tensor(file_, *info)
                                                              : initial_value(parameter, config, generator_));
      parameters.back().second.set_requires_grad(true);
    }
    for (const TensorInfo& info : file_.tensors())
      if (!used.contains(info.name) && !info.name.ends_with("position_ids"))
        record.unused.push_back(info.name);
    return parameters;
  }

 private:
  void require_mismatch_is_wanted(const ParameterShape& parameter, const TensorInfo& info) const {
    if (options_.ignore_mismatched_sizes) return;
    throw CheckpointError(path_.string() + ": " + info.name + " has shape " + shape_text(info.shape) +
                          ", the model needs " + shape_text(parameter.shape) +
                          ": check config.json, or add --ignore_mismatched_sizes to start this part afresh");
  }

  std::filesystem::path path_;
  SafetensorsFile file_;
  const Family& family_;
  const LoadOptions& options_;
  at::Generator generator_;
};

std::filesystem::path weights_file(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model.safetensors";
  if (std::filesystem::exists(path)) return path;
  std::string message = path.string() + ": does not exist";
  if (std::filesystem::exists(folder / "pytorch_model.bin"))
    message +=
        ": the folder has pytorch_model.bin, a pickle, which is not read; convert it with "
        "save_pretrained(..., safe_serialization=True) in Python";
  else
    message += ": --model_name_or_path needs a folder with config.json, model.safetensors and a tokenizer";
  throw CheckpointError(message);
}

}  // namespace

LoadedModel load_sequence_classifier(const std::filesystem::path& folder, const LoadOptions& options) {
  ModelConfig config = read_model_config(folder);
  const Family& family = family_of(config, folder);
  if (!options.labels.empty()) set_labels(config, options.labels);
  if (!options.problem_type.empty()) config.problem_type = options.problem_type;
  LoadedModel loaded;
  ParameterReader reader(weights_file(folder), family, options);
  NamedTensors parameters = reader.read(config, loaded);
  loaded.model = family.make(std::move(config), std::move(parameters));
  return loaded;
}

std::unique_ptr<SequenceClassifier> replicate(const SequenceClassifier& model, at::Device device) {
  NamedTensors copies;
  for (const auto& [name, tensor] : model.named_parameters()) {
    at::Tensor copy = tensor.detach().to(device, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    copies.emplace_back(name, copy.set_requires_grad(tensor.requires_grad()));
  }
  return model.with_parameters(std::move(copies));
}

void save_sequence_classifier(const SequenceClassifier& model, const std::filesystem::path& folder) {
  std::vector<at::Tensor> values;  // keeps the memory alive that `tensors` points into
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, parameter] : model.named_parameters()) {
    values.push_back(parameter.detach().to(at::kCPU, at::kFloat).contiguous());
    const at::Tensor& value = values.back();
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(value.const_data_ptr()),
                                           value.nbytes());
    tensors.push_back({name, DType::f32, value.sizes().vec(), bytes});
  }
  write_safetensors(folder / "model.safetensors", std::move(tensors));
  core::write_file_atomically(folder / "config.json", to_json(model.config()));
}

}  // namespace ranktune::models
