#include "ranktune/launch/sagemaker.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"

namespace ranktune::launch {

namespace {

std::filesystem::path config_file(const VariableReader& variables, const char* name) {
  const std::filesystem::path base = variables.text("SAGEMAKER_BASE_DIR").value_or("/opt/ml");
  return base / "input" / "config" / name;
}

/// true, "true" and "\"true\"": each layer may have written JSON into a text.
bool is_true(const nlohmann::json& value) {
  if (!value.is_string()) return value == true;
  const std::string& text = value.get_ref<const std::string&>();
  return text.find("true") != std::string::npos || text.find("True") != std::string::npos;
}

}  // namespace

bool asks_for_smdistributed(const VariableReader& variables, const FileReader& files) {
  for (const std::optional<std::string>& text :
       {variables.text("SM_FRAMEWORK_PARAMS"), files(config_file(variables, "hyperparameters.json"))}) {
    const nlohmann::json given =
        nlohmann::json::parse(text.value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!given.is_object()) continue;
    const char* const name = "sagemaker_distributed_dataparallel_enabled";
    if (given.contains(name) && is_true(given.at(name))) return true;
  }
  return false;
}

std::optional<SageMakerHosts> sagemaker_hosts(const VariableReader& variables, const FileReader& files) {
  const std::filesystem::path path = config_file(variables, "resourceconfig.json");
  const std::optional<std::string> content = files(path);
  if (!content) return std::nullopt;
  try {
    const nlohmann::json config = nlohmann::json::parse(*content);
    SageMakerHosts hosts{.names = config.at("hosts").get<std::vector<std::string>>(),
                         .source = path.string()};
    const auto current = config.at("current_host").get<std::string>();
    const auto found = std::find(hosts.names.begin(), hosts.names.end(), current);
    if (found == hosts.names.end())
      throw DataError({path.string()}, "current_host \"" + current + "\" is not among hosts");
    hosts.own = found - hosts.names.begin();
    return hosts;
  } catch (const nlohmann::json::exception&) {
    throw DataError({path.string()}, "not what SageMaker writes: it needs \"hosts\" and \"current_host\"");
  }
}

}  // namespace ranktune::launch
