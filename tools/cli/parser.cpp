#include "cli/parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/values.h"
#include "ranktune/core/error.h"

namespace ranktune::cli {
namespace {

bool looks_like_flag(const std::string& word) {
  return word.size() > 2 && word.starts_with("--");
}

bool looks_like_number(const std::string& word) {
  return parse_number(word).has_value();
}

class WordReader {
 public:
  WordReader(std::span<const std::string> words, const FlagTable& table, Positionals positionals)
      : words_(words), table_(table), positionals_(positionals) {}

  ParsedWords read() {
    while (next_ < words_.size() && !parsed_.help) {
      const std::string& word = words_[next_++];
      const Flag* const before = std::exchange(boolean_before_, nullptr);
      if (word == "-h" || word == "--help")
        parsed_.help = true;
      else if (word == "--")
        take_rest();
      else if (looks_like_flag(word))
        read_flag(word);
      else if (word.size() == 2 && word[0] == '-' && table_.find_exact(word.substr(1)).flag != nullptr)
        read_flag("-" + word);
      else if (word.size() > 1 && word[0] == '-' && !looks_like_number(word) &&
               word.find(' ') == std::string::npos)
        throw UsageError("unknown flag " + word + ": flags begin with --" +
                         table_.suggestion(word.substr(1), "--"));
      else
        take_positional(word, before);
    }
    return std::move(parsed_);
  }

 private:
  void take_positional(const std::string& word, const Flag* before) {
    parsed_.positionals.push_back({word, before});
    if (positionals_ == Positionals::end_the_flags) take_rest();
  }

  void take_rest() {
    for (; next_ < words_.size(); ++next_) parsed_.positionals.push_back({words_[next_], nullptr});
  }

  void read_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    const FlagTable::Match match = table_.find(name);
    std::vector<std::string> values;
    if (match.negated)
      values = negation(name, value);
    else if (value)
      values = {*value};
    else if (match.flag->kind == FlagKind::boolean)
      values = {boolean_word()};
    else if (match.flag->kind == FlagKind::names)
      values = value_words();
    else if (has_value())
      values = {words_[next_++]};
    if (values.empty() && match.flag->role == FlagRole::live) throw UsageError(missing_value(*match.flag));
    if (values.empty()) values = {""};
    if (match.flag->kind == FlagKind::boolean) boolean_before_ = match.flag;
    if (match.flag->kind == FlagKind::names) values = parse_names(values);
    parsed_.assignments.push_back({match.flag, std::move(values), "--" + match.flag->name});
  }

  static std::vector<std::string> negation(const std::string& name, const std::optional<std::string>& value) {
    if (value) throw UsageError("--" + name + " takes no value, but got " + in_quotes(*value));
    return {"false"};
  }

  /// A boolean takes the next word only when that word says true or false.
  std::string boolean_word() {
    const bool given = positionals_ == Positionals::anywhere && next_ < words_.size() &&
                       parse_boolean(words_[next_]).has_value();
    return given ? words_[next_++] : "true";
  }

  bool has_value() const {
    return next_ < words_.size() && words_[next_] != "--" && !looks_like_flag(words_[next_]);
  }

  std::vector<std::string> value_words() {
    std::vector<std::string> values;
    while (has_value()) values.push_back(words_[next_++]);
    return values;
  }

  std::string missing_value(const Flag& flag) const {
    std::string text = "--" + flag.name + " needs a value";
    if (!flag.value_name.empty() && flag.role == FlagRole::live)
      text += ": --" + flag.name + " " + flag.value_name;
    const bool dashes = next_ < words_.size() && looks_like_flag(words_[next_]) &&
                        !table_.find_exact(words_[next_].substr(2)).flag;
    return dashes ? text + " (one that begins with -- is written --" + flag.name + "=" + words_[next_] + ")"
                  : text;
  }

  std::span<const std::string> words_;
  const FlagTable& table_;
  Positionals positionals_;
  std::size_t next_ = 0;
  const Flag* boolean_before_ = nullptr;
  ParsedWords parsed_;
};

/// The words as one, for messages.
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : ",") + words[i];
  return text;
}

bool is_harmless(const Flag& flag, const std::string& value) {
  if (flag.kind == FlagKind::boolean) {
    const std::optional<bool> given = parse_boolean(value);
    if (given && !*given) return true;
    return given && std::find(flag.harmless.begin(), flag.harmless.end(), "true") != flag.harmless.end();
  }
  if (std::find(flag.harmless.begin(), flag.harmless.end(), value) != flag.harmless.end()) return true;
  // 0.0 and 0 are the same harmless number.
  const std::optional<double> number = parse_number(value);
  return number && std::any_of(flag.harmless.begin(), flag.harmless.end(),
                               [&](const std::string& word) { return parse_number(word) == number; });
}

}  // namespace

ParsedWords parse_words(std::span<const std::string> words, const FlagTable& table, Positionals positionals) {
  return WordReader(words, table, positionals).read();
}

void apply(const Assignment& assignment, std::vector<std::string>& notes) {
  const Flag& flag = *assignment.flag;
  const std::string value = joined(assignment.words);
  switch (flag.role) {
    case FlagRole::live: {
      const std::string complaint = flag.set(assignment.words);
      if (!complaint.empty()) throw UsageError(assignment.shown + " " + in_quotes(value) + " " + complaint);
      return;
    }
    case FlagRole::ignored: {
      if (is_harmless(flag, value)) return;
      const std::string note = assignment.shown + " changes nothing: " + flag.help;
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
      return;
    }
    case FlagRole::refused:
      if (!is_harmless(flag, value))
        throw UsageError(assignment.shown + " is not available in this version: " + flag.help);
  }
}

}  // namespace ranktune::cli
