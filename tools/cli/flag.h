#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Flags as data. One table per command says everything about its flags; the parser, `--help`, the reader of
/// args.json and "did you mean" all work from it.
namespace ranktune::cli {

/// How many words a flag takes, and which JSON values.
enum class FlagKind { boolean, integer, number, text, names, object };

/// What giving a flag does in this version.
enum class FlagRole {
  live,     ///< sets a value
  ignored,  ///< accepted with a note, because command lines for run_glue carry it
  refused   ///< an error with the reason, unless the value is one that changes nothing
};

/// One flag. Built by the functions below; `set` writes into the arguments that the table was made for.
struct Flag {
  std::string name = {};  ///< with underscores, without dashes
  FlagKind kind = FlagKind::text;
  FlagRole role = FlagRole::live;
  std::string value_name = {};             ///< stands for the value in --help
  std::string help = {};                   ///< what it does; for an ignored or refused flag: why
  std::string default_shown = {};          ///< empty: no default to speak of
  std::vector<std::string> aliases = {};   ///< other names, older ones mostly
  std::vector<std::string> harmless = {};  ///< ignored and refused flags: values that pass in silence
  /// Returns what is wrong with the words ("is not a number"), or "".
  std::function<std::string(const std::vector<std::string>& words)> set = {};

  Flag also(std::string alias) &&;
  Flag shown_default(std::string text) &&;
};

/// A heading of --help and what stands below it.
struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

/// `--name` alone is true; `--name false` and `--no_name` are false.
Flag boolean_flag(std::string name, bool& target, std::string help);
Flag option(std::string name, std::string value_name, std::int64_t& target, std::string help);
Flag option(std::string name, std::string value_name, std::optional<std::int64_t>& target, std::string help);
Flag option(std::string name, std::string value_name, double& target, std::string help);
Flag option(std::string name, std::string value_name, std::optional<double>& target, std::string help);
Flag option(std::string name, std::string value_name, std::optional<std::string>& target, std::string help);
Flag option(std::string name, std::string value_name, std::string& target, std::string help);
Flag option(std::string name, std::string value_name, std::filesystem::path& target, std::string help);
Flag option(std::string name, std::string value_name, std::optional<std::filesystem::path>& target,
            std::string help);
Flag option(std::string name, std::string value_name, std::vector<std::string>& target, std::string help);

/// Accepted, without any effect. `harmless` values earn no note; for a boolean "false" never does.
Flag ignored_flag(std::string name, FlagKind kind, std::string why, std::vector<std::string> harmless = {});
/// Not in this version. `harmless` values pass in silence; for a boolean "false" always does.
Flag refused_flag(std::string name, FlagKind kind, std::string why, std::vector<std::string> harmless = {});

/// One of a few words.
template <typename Value>
Flag choice(std::string name, std::vector<std::pair<std::string, Value>> choices, Value& target,
            std::string help);

/// Choices that are too many to stand beside the flag's name go into its help.
void list_long_choices(Flag& flag, const std::vector<std::string>& choices);

/// What is wrong with `word` as one of `choices`.
std::string choice_complaint(const std::vector<std::string>& choices);

/// All flags of a command, with the rules by which a name finds its flag.
class FlagTable {
 public:
  explicit FlagTable(std::vector<FlagGroup> groups) : groups_(std::move(groups)) {}

  struct Match {
    const Flag* flag = nullptr;
    bool negated = false;  ///< found as no_<name>
  };

  const std::vector<FlagGroup>& groups() const noexcept { return groups_; }
  /// A name or an alias, hyphens as underscores, `no_` before a boolean; no abbreviation. No match: flag is
  /// null.
  Match find_exact(std::string_view name) const;
  /// Also the beginning of a name, when only one flag begins so. THROWS: UsageError for an unknown or
  /// ambiguous one.
  Match find(std::string_view name) const;
  /// "; did you mean --learning_rate?" or "", with `dashes` before the name.
  std::string suggestion(std::string_view name, std::string_view dashes) const;

 private:
  std::vector<FlagGroup> groups_;
};

template <typename Value>
Flag choice(std::string name, std::vector<std::pair<std::string, Value>> choices, Value& target,
            std::string help) {
  Flag flag{.name = std::move(name), .kind = FlagKind::text, .help = std::move(help)};
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    flag.value_name += (flag.value_name.empty() ? "" : "|") + word;
    if (value == target) flag.default_shown = word;
  }
  list_long_choices(flag, words);
  flag.set = [choices = std::move(choices), words = std::move(words),
              &target](const std::vector<std::string>& given) {
    for (const auto& [word, value] : choices) {
      if (word != given.front()) continue;
      target = value;
      return std::string();
    }
    return choice_complaint(words);
  };
  return flag;
}

}  // namespace ranktune::cli
