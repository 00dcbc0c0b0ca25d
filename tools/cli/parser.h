#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/flag.h"

/// Words -> what they assign. run_glue's rules (HfArgumentParser over argparse), by hand: a general parser
/// takes
/// `--flag` or `--flag=true` but not `--flag true`, knows neither `--no_flag` nor abbreviations nor '-' for
/// '_', and would need each word rewritten before it saw it. What is left after that rewriting is this file.
namespace ranktune::cli {

/// One flag with its words, not yet applied.
struct Assignment {
  const Flag* flag = nullptr;
  std::vector<std::string> words;
  std::string shown;  ///< how messages name it: "--max_steps"; for args.json "args.json:3:5: max_steps:"
};

/// A word that belongs to no flag.
struct Positional {
  std::string word;
  const Flag* after = nullptr;  ///< the boolean flag just before it, which did not take it
};

struct ParsedWords {
  std::vector<Assignment> assignments;  ///< in the order given: the last one for a flag wins
  std::vector<Positional> positionals;
  bool help = false;  ///< -h or --help was given; nothing after it was read
};

/// What the first word that belongs to no flag means.
enum class Positionals {
  anywhere,       ///< nothing: flags may follow
  end_the_flags,  ///< it is a program: all words after it are its own, and a boolean flag takes no word
};

/// Reads words: `--flag value`, `--flag=value`, `--flag`, `--no_flag`, `--flag true`, several words for a
/// list; `-x` where a flag has the alias x. After a lone `--` all words are positionals; "-" is one too.
/// Pointers go into `table`. THROWS: UsageError for an unknown or ambiguous flag and for a missing value.
ParsedWords parse_words(std::span<const std::string> words, const FlagTable& table,
                        Positionals positionals = Positionals::anywhere);

/// Applies one assignment: sets the value; or adds a line to `notes` for an ignored flag.
/// THROWS: UsageError for a value that does not fit, and for a refused flag.
void apply(const Assignment& assignment, std::vector<std::string>& notes);

}  // namespace ranktune::cli
