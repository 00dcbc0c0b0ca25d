#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ranktune/core/json.h"
#include "ranktune/core/utf8.h"

namespace ranktune::cli {
namespace {

constexpr std::size_t kWidestLabel = 40;

/// 179.126 seconds are 0:02:59.12, cut and not rounded, with days before it when there are any.
std::string runtime(double seconds) {
  const auto hundredths = static_cast<long long>(std::max(seconds, 0.0) * 100);
  const long long whole = hundredths / 100;
  const long long days = whole / 86400;
  const std::string head = days == 0 ? "" : fmt::format("{} day{}, ", days, days == 1 ? "" : "s");
  return head + fmt::format("{}:{:02}:{:02}.{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60,
                            hundredths % 100);
}

std::string metric_value(const std::string& name, double value) {
  if (!std::isfinite(value)) return core::python_float(value);
  if (name.ends_with("_runtime")) return runtime(value);
  if (name == "total_flos") return fmt::format("{}GF", static_cast<long long>(value) >> 30);
  if (name.ends_with("_samples")) return fmt::format("{:.0f}", value);
  return core::python_float(std::round(value * 1e4) / 1e4);
}

/// The label in `width` columns; code points stand for columns, as fmt's own width does for most scripts.
std::string label_cell(const std::string& label, std::size_t width) {
  std::string cell;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < label.size() && columns < width; ++columns) {
    const std::size_t start = i;
    core::next_code_point(label, i);
    const bool cut = columns + 1 == width && i < label.size();
    cell += cut ? "…" : label.substr(start, i - start);
  }
  return cell + std::string(width - columns, ' ');
}

std::size_t code_points(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) core::next_code_point(text, i);
  return count;
}

}  // namespace

std::string metrics_block(const std::string& title,
                          const std::vector<std::pair<std::string, double>>& metrics) {
  if (metrics.empty()) return "";
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& [name, value] : metrics) {
    name_width = std::max(name_width, name.size());
    value_width = std::max(value_width, metric_value(name, value).size());
  }
  std::string text = "***** " + title + " metrics *****\n";
  for (const auto& [name, value] : metrics)
    text += fmt::format("  {:<{}} = {:>{}}\n", name, name_width, metric_value(name, value), value_width);
  return text;
}

std::string class_table(const train::JobReport& report) {
  if (report.classes.empty()) return "";
  std::string text;
  for (const auto& [name, value] : report.eval_metrics)
    if (name == "eval_accuracy") text += fmt::format("accuracy  {:.4f}\n", value);
  text += fmt::format("macro F1  {:.4f}\n\n", report.macro_f1);
  std::size_t width = 5;
  for (const train::ClassReport& row : report.classes) width = std::max(width, code_points(row.label));
  width = std::min(width, kWidestLabel);
  text += fmt::format("{}  precision  recall      F1     rows\n", label_cell("label", width));
  for (const train::ClassReport& row : report.classes)
    text += fmt::format("{}  {:>9.4f}  {:.4f}  {:.4f}  {:>7}\n", label_cell(row.label, width), row.precision,
                        row.recall, row.f1, row.support);
  return text;
}

std::string shell_quoted(const std::string& word) {
  const auto harmless = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') ||
           std::string_view("/._-+=:,@").find(letter) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), harmless)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string next_steps(const train::TextClassificationArguments& arguments, const std::string& program) {
  const std::string folder = shell_quoted(arguments.training.output_dir.string());
  const bool pair = arguments.data.text_column_names.size() > 1 && !arguments.data.text_column_delimiter;
  const std::string input = pair ? "--file ROWS.csv" : "\"a text of your own\"";
  std::string text;
  if (arguments.training.do_train) {
    text += "The model is in " + folder + ". Try it:\n";
    text += "  " + shell_quoted(program) + " predict --model " + folder + " " + input + "\n";
  }
  if (arguments.training.do_predict)
    text += "The predictions are in " +
            shell_quoted((arguments.training.output_dir / "predict_results.txt").string()) + "\n";
  return text;
}

}  // namespace ranktune::cli
