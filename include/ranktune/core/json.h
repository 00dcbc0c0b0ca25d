#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// JSON as the Python world writes it, so that files can be compared key by key and digit by digit.
namespace ranktune::core {

struct JsonStyle {
  int indent = 2;              ///< spaces per level; negative: everything on one line with ", " and ": "
  bool final_newline = false;  ///< config.json and trainer_state.json end in one, *_results.json do not
  bool ascii = false;          ///< non-ASCII text is escaped, as Python does by default; false: kept as it is
};

/// What Python's json.dumps(value, indent=..., sort_keys=True) prints: keys sorted, numbers in repr's
/// shortest form (5e-05, 1.0, 0.6920301914215088), NaN and Infinity as bare words. REQUIRES: all text is
/// well-formed UTF-8.
std::string to_python_json(const nlohmann::json& value, const JsonStyle& style = {});

/// The same with the keys in the order in which they were added.
std::string to_python_json(const nlohmann::ordered_json& value, const JsonStyle& style = {});

/// repr(float): the shortest digits that read back as the same double; exponent form below 1e-4 and from 1e16
/// on.
std::string python_float(double value);

/// Parses JSON text; NaN, Infinity and -Infinity are read as Python reads them.
/// THROWS: DataError with file, line and column of the first fault.
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a whole file. THROWS: DataError as parse_json and read_file.
nlohmann::json read_json_file(const std::filesystem::path& path);

}  // namespace ranktune::core
