#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Words of a command line as values. A word is taken whole or not at all: "5e-5x" is no number.
namespace ranktune::cli {

/// true/yes/t/y/1 and false/no/f/n/0 in any case.
std::optional<bool> parse_boolean(std::string_view word);

/// A whole number, with a sign or without.
std::optional<std::int64_t> parse_integer(std::string_view word);

/// A finite number as Python's float() reads it: 5e-5, .5, 3, +1.0.
std::optional<double> parse_number(std::string_view word);

/// The names in `words`. A word with commas is a list of its own, blanks around its names dropped; a word
/// without commas is one name, kept as it is.
std::vector<std::string> parse_names(const std::vector<std::string>& words);

/// `word` in double quotes, for messages; cut short when it is long, control characters shown as '?'.
std::string in_quotes(std::string_view word);

/// `name` with '-' as '_': the spelling that the tables of flags use.
std::string with_underscores(std::string_view name);

}  // namespace ranktune::cli
