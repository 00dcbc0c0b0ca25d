#pragma once

#include <string>
#include <string_view>

#include "cli/flag.h"

namespace ranktune::cli {

/// No line of --help is longer.
inline constexpr std::size_t kHelpColumns = 100;

/// Breaks `text` at blanks into lines of at most kHelpColumns, each after the first indented; ends with a
/// line break. `used` columns of the first line are taken already.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used);

/// The flags of a table under their groups' titles, aligned, with defaults. Groups without a live flag show
/// names only.
std::string flags_help(const FlagTable& table);

}  // namespace ranktune::cli
