#include "ranktune/train/prediction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <ostream>
#include <utility>

#include "ranktune/data/table_writer.h"

namespace ranktune::train {
namespace {

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::size_t shown_labels(const TablePredictions& predictions) {
  return std::min(predictions.labels.size(), static_cast<std::size_t>(predictions.top_k));
}

std::vector<data::ExtraColumn> added_columns(const TablePredictions& predictions) {
  if (predictions.labels.empty()) return {{"prediction", {}}};
  std::vector<data::ExtraColumn> columns;
  for (std::size_t place = 1; place <= shown_labels(predictions); ++place) {
    const std::string suffix = place == 1 ? "" : "_" + std::to_string(place);
    columns.push_back({"label" + suffix, {}});
    columns.push_back({"score" + suffix, {}});
  }
  if (predictions.scores) columns.push_back({"scores", predictions.labels});
  return columns;
}

std::vector<data::ExtraValue> added_values(const TablePredictions& predictions, std::int64_t number) {
  const std::span<const float> logits = predictions.row(number);
  if (predictions.labels.empty()) return {static_cast<double>(logits.front())};
  const std::vector<double> probabilities = probabilities_of(logits);
  std::vector<data::ExtraValue> values;
  for (const std::size_t label : best_first(logits, predictions.top_k)) {
    values.emplace_back(predictions.labels[label]);
    values.emplace_back(probabilities[label]);
  }
  if (predictions.scores) values.emplace_back(probabilities);
  return values;
}

std::string line_of(const TablePredictions& predictions, std::int64_t number) {
  const std::span<const float> logits = predictions.row(number);
  if (predictions.labels.empty()) return three_decimals(logits.front()) + "\t";
  const std::vector<double> probabilities = probabilities_of(logits);
  std::string line;
  for (const std::size_t label : best_first(logits, predictions.top_k))
    line += predictions.labels[label] + formatted("\t%.4f\t", probabilities[label]);
  for (std::size_t label = 0; predictions.scores && label < probabilities.size(); ++label)
    line += predictions.labels[label] + formatted("=%.4f\t", probabilities[label]);
  return line;
}

}  // namespace

std::vector<double> probabilities_of(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> probabilities;
  for (const float logit : logits) probabilities.push_back(std::exp(logit - largest));
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities)
    probability = std::strtod(formatted("%.6g", probability / sum).c_str(), nullptr);
  return probabilities;
}

std::vector<std::size_t> best_first(std::span<const float> logits, std::int64_t top_k) {
  std::vector<std::size_t> places(logits.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  places.resize(std::min(places.size(), static_cast<std::size_t>(top_k)));
  return places;
}

std::string three_decimals(float value) {
  return formatted("%.3f", static_cast<double>(value));
}

std::span<const float> TablePredictions::row(std::int64_t number) const {
  const std::size_t width = std::max<std::size_t>(1, labels.size());
  return logits.subspan(static_cast<std::size_t>(number) * width, width);
}

void write_table(std::ostream& out, data::TableFormat format, bool header,
                 const TablePredictions& predictions) {
  data::TableWriter writer(out, format, predictions.table, added_columns(predictions), header);
  for (std::int64_t number = 0; number < predictions.table.rows(); ++number)
    writer.write(number, added_values(predictions, number));
  writer.finish();
}

void write_lines(std::ostream& out, const TablePredictions& predictions) {
  for (std::int64_t number = 0; number < predictions.table.rows(); ++number) {
    std::string text(predictions.table.cell(number, 0).text);
    std::replace(text.begin(), text.end(), '\n', ' ');  // a text from the command line may hold line breaks
    out << line_of(predictions, number) << text << '\n';
  }
}

}  // namespace ranktune::train
