#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/data/columns.h"
#include "ranktune/data/split.h"
#include "ranktune/data/table.h"
#include "ranktune/models/config.h"
#include "ranktune/models/sequence_classifier.h"
#include "ranktune/text/tokenizer.h"
#include "ranktune/train/evaluate.h"
#include "ranktune/train/job_data.h"
#include "ranktune/train/machine.h"
#include "ranktune/train/prediction.h"
#include "ranktune/train/task.h"
#include "ranktune/train/text_classification.h"

namespace ranktune::train {
namespace {

data::Table read_rows(const PredictArguments& arguments, std::istream& input) {
  if (arguments.file) return data::read_table(*arguments.file, {.header = !arguments.no_header});
  if (!arguments.texts.empty()) return data::table_of_texts(arguments.texts, "command line");
  std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  return data::parse_table(std::move(text), data::TableFormat::lines);
}

/// Looks before the work is done whether its result can be written. Returns the format to write in.
data::TableFormat output_format(const PredictArguments& arguments, const data::Table& table) {
  if (!arguments.output) return table.format();
  const std::filesystem::path folder = std::filesystem::absolute(*arguments.output).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw UsageError("--output " + arguments.output->string() + ": there is no folder " + folder.string());
  return data::table_format_of(*arguments.output);
}

std::unique_ptr<models::SequenceClassifier> load_model(const PredictArguments& arguments,
                                                       std::int64_t threads, core::Logger& logger) {
  models::LoadedModel loaded = models::load_sequence_classifier(arguments.model, {});
  if (!loaded.initialized.empty())
    logger.warning(arguments.model.string() + ": " + loaded.initialized.front() +
                   " is not in the checkpoint: its labels are random; train it first with ranktune train");
  return on_devices(std::move(loaded.model), {choose_device("", arguments.use_cpu)}, threads);
}

void write(const TablePredictions& predictions, data::TableFormat format, const PredictArguments& arguments,
           std::ostream& output) {
  const bool readable = format == data::TableFormat::lines;
  if (readable) return write_lines(output, predictions);
  if (!arguments.output) return write_table(output, format, !arguments.no_header, predictions);
  core::write_file_atomically(*arguments.output, [&](std::ostream& file) {
    write_table(file, format, !arguments.no_header, predictions);
  });
}

}  // namespace

void run_predict(const PredictArguments& arguments, std::istream& input, std::ostream& output,
                 core::Logger& logger, Observer& observer) {
  require_model_folder(arguments.model, "--model");
  const models::ModelConfig config = models::read_model_config(arguments.model);
  const bool regression = task_of(config, arguments.model) == data::TaskKind::regression;
  const std::unique_ptr<text::Tokenizer> tokenizer = text::load_tokenizer(arguments.model);
  require_vocabulary_fits(*tokenizer, config, arguments.model);
  const data::Table table = read_rows(arguments, input);
  const data::TableFormat format = output_format(arguments, table);
  core::NullLogger silent;  // typed texts have no columns that anybody could choose
  const bool has_columns = table.format() != data::TableFormat::lines;
  const data::TextColumns text =
      data::choose_text_columns(table, arguments.text_column_names, arguments.text_column_delimiter, "label",
                                has_columns ? logger : static_cast<core::Logger&>(silent));
  data::SplitData split = data::load_split(table, {.text = text}, logger);
  const TokenLimits limits{.max_length = allowed_length(arguments.max_seq_length, *tokenizer, config, logger),
                           .threads = use_threads(arguments.num_threads)};
  const Dataset dataset = tokenize(split, *tokenizer, limits, observer);
  const auto model = load_model(arguments, limits.threads, logger);
  const Predictions predictions = predict(*model, dataset, {.batch_size = arguments.batch_size}, observer);
  write({.table = table,
         .logits = predictions.logits,
         .labels = regression ? std::vector<std::string>{} : config.id2label,
         .top_k = arguments.top_k,
         .scores = arguments.scores},
        format, arguments, output);
}

}  // namespace ranktune::train
