#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/train_flags.h"
#include "ranktune/launch/diagnosis.h"

/// The verb `doctor`.
namespace ranktune::cli {

struct DoctorCommand {
  PlaceArguments place = {.ddp_timeout = 60};
  bool use_cpu = false;
  std::optional<std::int64_t> world;  ///< start so many ranks and time them
  bool json = false;
  bool help = false;
};

/// THROWS: UsageError.
DoctorCommand parse_doctor(std::span<const std::string> words);
std::string doctor_help();

/// Words that make ranktune-train look at LibTorch and at the group, if there is one.
std::vector<std::string> libtorch_words(const DoctorCommand& command);

/// All that was found as one object. `libtorch` is what ranktune-train printed; empty: it said nothing, and
/// `libtorch_problem` says why.
nlohmann::json doctor_json(const launch::ProcessDiagnosis& found, const std::string& libtorch,
                           const std::string& libtorch_problem);

/// The same for people.
std::string doctor_text(const nlohmann::json& report);

}  // namespace ranktune::cli
