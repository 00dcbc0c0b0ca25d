#include "cli/help.h"

#include <algorithm>

namespace ranktune::cli {
namespace {

constexpr std::size_t kHelpColumn = 36;  ///< where the explanations begin

bool only_names(const FlagGroup& group) {
  return std::none_of(group.flags.begin(), group.flags.end(),
                      [](const Flag& flag) { return flag.role == FlagRole::live; });
}

std::string names_of(const FlagGroup& group) {
  std::string text;
  for (const Flag& flag : group.flags) text += (text.empty() ? "--" : ", --") + flag.name;
  return text;
}

std::string explanation(const Flag& flag) {
  std::string text = flag.help;
  if (!flag.default_shown.empty()) text += " (default: " + flag.default_shown + ")";
  for (const std::string& alias : flag.aliases)
    text += (alias.size() == 1 ? " (also -" : " (also --") + alias + ")";
  return text;
}

std::string flag_help(const Flag& flag) {
  std::string line = "  --" + flag.name;
  if (!flag.value_name.empty()) line += " " + flag.value_name;
  // A name that is too long stands on a line of its own.
  const bool fits = line.size() + 2 <= kHelpColumn;
  line += fits ? std::string(kHelpColumn - line.size(), ' ') : "\n" + std::string(kHelpColumn, ' ');
  return line + wrapped(explanation(flag), kHelpColumn, kHelpColumn);
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used) {
  std::string out;
  std::size_t column = used;
  bool line_empty = true;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!line_empty && column + 1 + word.size() > kHelpColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      line_empty = true;
    }
    if (!line_empty) out += ' ';
    column += word.size() + (line_empty ? 0 : 1);
    out += word;
    line_empty = false;
  }
  return out + "\n";
}

std::string flags_help(const FlagTable& table) {
  std::string text;
  for (const FlagGroup& group : table.groups()) {
    text += "\n" + group.title + "\n";
    if (only_names(group))
      text += "  " + wrapped(names_of(group), 2, 2);
    else
      for (const Flag& flag : group.flags) text += flag_help(flag);
  }
  return text;
}

}  // namespace ranktune::cli
