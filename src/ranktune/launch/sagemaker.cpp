#include "ranktune/launch/sagemaker.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"

namespace ranktune::launch {

std::optional<SageMakerHosts> sagemaker_hosts(const VariableReader& variables, const FileReader& files) {
  const std::filesystem::path base = variables.text("SAGEMAKER_BASE_DIR").value_or("/opt/ml");
  const std::filesystem::path path = base / "input" / "config" / "resourceconfig.json";
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
