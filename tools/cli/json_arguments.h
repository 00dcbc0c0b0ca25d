#pragma once

#include <filesystem>
#include <vector>

#include "cli/parser.h"

namespace ranktune::cli {

/// Reads a file that holds all arguments as one JSON object, as `ranktune train args.json` does. Keys are
/// flag names; null leaves a flag as it is; a list of names is an array or one string. THROWS: DataError with
/// file, line and column for JSON that cannot be read, an unknown key (with the nearest known one) and a
/// value of another type than the flag's.
std::vector<Assignment> read_json_arguments(const std::filesystem::path& path, const FlagTable& table);

}  // namespace ranktune::cli
