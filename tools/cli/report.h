#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ranktune/train/text_classification.h"

/// The end of a run as text for people.
namespace ranktune::cli {

/// "***** eval metrics *****" and a line per metric as the Trainer prints them: names aligned left, values
/// right; runtimes as 0:02:59.12, counts whole, other numbers to four decimals. Empty for no metrics.
std::string metrics_block(const std::string& title,
                          const std::vector<std::pair<std::string, double>>& metrics);

/// Accuracy and macro F1, then precision, recall, F1 and rows of each class. Empty for regression.
std::string class_table(const train::JobReport& report);

/// Where the model lies, and the command to try next. `program` is how the user called ranktune.
std::string next_steps(const train::TextClassificationArguments& arguments, const std::string& program);

/// `word` as a shell reads it back: in single quotes when it holds more than letters, digits and harmless
/// signs.
std::string shell_quoted(const std::string& word);

}  // namespace ranktune::cli
