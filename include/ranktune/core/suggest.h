#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ranktune::core {

/// The candidate with the smallest edit distance to `word` ('-' and '_' count as equal), or "" when even the
/// best one differs in more than a third of its letters: for "did you mean" in error messages.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ranktune::core
