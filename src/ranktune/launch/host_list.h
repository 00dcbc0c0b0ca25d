#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Slurm's shorthands, read here because containers often lack `scontrol`.
namespace ranktune::launch {

/// "n[01-03,7],gpu5" is n01, n02, n03, n7, gpu5. Several bracket groups and a suffix may follow.
/// THROWS: UsageError naming the text where it is none.
std::vector<std::string> expand_host_list(const std::string& text);

/// "2(x3),1" is 2, 2, 2, 1. THROWS: UsageError naming the text where it is none.
std::vector<std::int64_t> expand_task_counts(const std::string& text);

}  // namespace ranktune::launch
