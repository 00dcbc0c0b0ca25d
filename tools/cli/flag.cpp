#include "cli/flag.h"

#include <algorithm>

#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/json.h"
#include "ranktune/core/suggest.h"

namespace ranktune::cli {
namespace {

constexpr const char* kNotInteger = "is not a whole number";
constexpr const char* kNotNumber = "is not a number";

Flag make(std::string name, FlagKind kind, std::string value_name, std::string help) {
  return {
      .name = std::move(name), .kind = kind, .value_name = std::move(value_name), .help = std::move(help)};
}

/// A setter that parses the one word with `parse` and stores it, or returns `complaint`.
template <typename Parse, typename Target>
auto parsed_into(Parse parse, Target& target, const char* complaint) {
  return [parse, &target, complaint](const std::vector<std::string>& words) -> std::string {
    const auto value = parse(words.front());
    if (!value) return complaint;
    target = *value;
    return "";
  };
}

std::string path_complaint(const std::string& word) {
  if (word.empty()) return "is empty: it must name a file or folder";
  if (word == "~" || word.starts_with("~/"))
    return "begins with ~, which only a shell expands: write the whole path";
  return "";
}

template <typename Target>
auto path_into(Target& target) {
  return [&target](const std::vector<std::string>& words) {
    std::string complaint = path_complaint(words.front());
    if (complaint.empty()) target = words.front();
    return complaint;
  };
}

/// Calls `visit(name, flag, negated)` for every way in which a flag can be spelled in full.
template <typename Visit>
void for_each_spelling(const std::vector<FlagGroup>& groups, Visit visit) {
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      visit(flag.name, flag, false);
      for (const std::string& alias : flag.aliases) visit(alias, flag, false);
      if (flag.kind == FlagKind::boolean) visit("no_" + flag.name, flag, true);
    }
  }
}

}  // namespace

Flag Flag::also(std::string alias) && {
  aliases.push_back(std::move(alias));
  return std::move(*this);
}

Flag Flag::shown_default(std::string text) && {
  default_shown = std::move(text);
  return std::move(*this);
}

Flag boolean_flag(std::string name, bool& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::boolean, "", std::move(help));
  if (target) flag.default_shown = "true";
  flag.set = parsed_into(parse_boolean, target, "is neither true nor false");
  return flag;
}

Flag option(std::string name, std::string value_name, std::int64_t& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::integer, std::move(value_name), std::move(help));
  flag.default_shown = std::to_string(target);
  flag.set = parsed_into(parse_integer, target, kNotInteger);
  return flag;
}

Flag option(std::string name, std::string value_name, std::optional<std::int64_t>& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::integer, std::move(value_name), std::move(help));
  flag.set = parsed_into(parse_integer, target, kNotInteger);
  return flag;
}

Flag option(std::string name, std::string value_name, double& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::number, std::move(value_name), std::move(help));
  flag.default_shown = core::python_float(target);
  if (flag.default_shown.ends_with(".0")) flag.default_shown.erase(flag.default_shown.size() - 2);
  flag.set = parsed_into(parse_number, target, kNotNumber);
  return flag;
}

Flag option(std::string name, std::string value_name, std::optional<double>& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::number, std::move(value_name), std::move(help));
  flag.set = parsed_into(parse_number, target, kNotNumber);
  return flag;
}

Flag option(std::string name, std::string value_name, std::optional<std::string>& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::text, std::move(value_name), std::move(help));
  flag.set = [&target](const std::vector<std::string>& words) {
    target = words.front();
    return std::string();
  };
  return flag;
}

Flag option(std::string name, std::string value_name, std::string& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::text, std::move(value_name), std::move(help));
  flag.default_shown = target;
  flag.set = [&target](const std::vector<std::string>& words) {
    target = words.front();
    return std::string();
  };
  return flag;
}

Flag option(std::string name, std::string value_name, std::filesystem::path& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::text, std::move(value_name), std::move(help));
  flag.set = path_into(target);
  return flag;
}

Flag option(std::string name, std::string value_name, std::optional<std::filesystem::path>& target,
            std::string help) {
  Flag flag = make(std::move(name), FlagKind::text, std::move(value_name), std::move(help));
  flag.set = path_into(target);
  return flag;
}

Flag option(std::string name, std::string value_name, std::vector<std::string>& target, std::string help) {
  Flag flag = make(std::move(name), FlagKind::names, std::move(value_name), std::move(help));
  flag.set = [&target](const std::vector<std::string>& words) -> std::string {
    if (std::find(words.begin(), words.end(), "") != words.end()) return "holds an empty name";
    target = words;
    return "";
  };
  return flag;
}

Flag ignored_flag(std::string name, FlagKind kind, std::string why, std::vector<std::string> harmless) {
  Flag flag = make(std::move(name), kind, kind == FlagKind::boolean ? "" : "X", std::move(why));
  flag.role = FlagRole::ignored;
  flag.harmless = std::move(harmless);
  return flag;
}

Flag refused_flag(std::string name, FlagKind kind, std::string why, std::vector<std::string> harmless) {
  Flag flag = ignored_flag(std::move(name), kind, std::move(why), std::move(harmless));
  flag.role = FlagRole::refused;
  return flag;
}

namespace {

std::string one_of(const std::vector<std::string>& choices) {
  std::string text = "one of";
  for (const std::string& word : choices) text += (&word == &choices.front() ? " " : ", ") + word;
  return text;
}

}  // namespace

void list_long_choices(Flag& flag, const std::vector<std::string>& choices) {
  constexpr std::size_t kBesideTheName = 60;
  if (flag.value_name.size() <= kBesideTheName) return;
  flag.value_name = "NAME";
  flag.help += "; " + one_of(choices);
}

std::string choice_complaint(const std::vector<std::string>& choices) {
  return "is not " + one_of(choices);
}

FlagTable::Match FlagTable::find_exact(std::string_view name) const {
  const std::string wanted = with_underscores(name);
  Match match;
  for_each_spelling(groups_, [&](const std::string& spelling, const Flag& flag, bool negated) {
    // A real name wins over no_<name> of another flag.
    if (spelling == wanted && (match.flag == nullptr || match.negated)) match = {&flag, negated};
  });
  return match;
}

FlagTable::Match FlagTable::find(std::string_view name) const {
  const Match exact = find_exact(name);
  if (exact.flag != nullptr) return exact;
  const std::string wanted = with_underscores(name);
  std::vector<Match> matches;
  std::string spellings;
  for_each_spelling(groups_, [&](const std::string& spelling, const Flag& flag, bool negated) {
    if (wanted.empty() || !spelling.starts_with(wanted)) return;
    const bool known = !matches.empty() && matches.back().flag == &flag && matches.back().negated == negated;
    if (known) return;
    matches.push_back({&flag, negated});
    spellings += (spellings.empty() ? "--" : ", --") + spelling;
  });
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) throw UsageError("unknown flag --" + std::string(name) + suggestion(name, "--"));
  throw UsageError("--" + std::string(name) + " can be more than one flag: " + spellings);
}

std::string FlagTable::suggestion(std::string_view name, std::string_view dashes) const {
  std::vector<std::string> spellings;
  for_each_spelling(groups_, [&](const std::string& spelling, const Flag&, bool negated) {
    if (!negated) spellings.push_back(spelling);
  });
  const std::string nearest = core::nearest_word(with_underscores(name), spellings);
  return nearest.empty() ? "" : "; did you mean " + std::string(dashes) + nearest + "?";
}

}  // namespace ranktune::cli
