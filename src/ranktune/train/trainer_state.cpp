#include "ranktune/train/trainer_state.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"

namespace ranktune::train {
namespace {

using nlohmann::json;

json to_object(const Figures& figures) {
  json object = json::object();
  for (const auto& [name, figure] : figures)
    object[name] = std::visit([](auto value) { return json(value); }, figure);
  return object;
}

/// Python's round(value, digits): the decimal number nearest to the exact value of the double.
double round_decimal(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return std::strtod(text, nullptr);
}

std::string as_results(const json& object) {
  return core::to_python_json(object, {.indent = 4, .ascii = true});
}

}  // namespace

Figures update_entry(const UpdateLog& log) {
  return {{"loss", log.loss},
          {"grad_norm", log.grad_norm},
          {"learning_rate", log.learning_rate},
          {"epoch", log.epoch},
          {"step", log.step}};
}

Figures summary_entry(Figures figures, double epoch, std::int64_t step) {
  figures.emplace_back("epoch", epoch);
  figures.emplace_back("step", step);
  return figures;
}

Figures speed_figures(const std::string& prefix, const PhaseSpeed& speed) {
  Figures figures = {{prefix + "_runtime", round_decimal(speed.seconds, 4)}};
  if (!(speed.seconds > 0)) return figures;
  figures.emplace_back(prefix + "_samples_per_second", round_decimal(speed.samples / speed.seconds, 3));
  figures.emplace_back(prefix + "_steps_per_second",
                       round_decimal(static_cast<double>(speed.steps) / speed.seconds, 3));
  return figures;
}

double epoch_position(std::int64_t finished_epochs, std::int64_t micro_batches_done,
                      std::int64_t micro_batches_per_epoch) {
  return static_cast<double>(finished_epochs) +
         static_cast<double>(micro_batches_done) / static_cast<double>(micro_batches_per_epoch);
}

std::string to_json(const TrainerState& state) {
  json history = json::array();
  for (const Figures& entry : state.log_history) history.push_back(to_object(entry));
  const json control = {{"should_epoch_stop", false},
                        {"should_evaluate", false},
                        {"should_log", false},
                        {"should_save", state.should_save},
                        {"should_training_stop", state.should_training_stop}};
  const json file = {
      {"best_global_step", nullptr},
      {"best_metric", nullptr},
      {"best_model_checkpoint", nullptr},
      {"epoch", state.epoch},
      {"eval_steps", state.eval_steps},
      {"global_step", state.global_step},
      {"is_hyper_param_search", false},
      {"is_local_process_zero", true},
      {"is_world_process_zero", true},
      {"log_history", history},
      {"logging_steps", state.logging_steps},
      {"max_steps", state.max_steps},
      {"num_input_tokens_seen", 0},
      {"num_train_epochs", state.num_train_epochs},
      {"save_steps", state.save_steps},
      {"stateful_callbacks", {{"TrainerControl", {{"args", control}, {"attributes", json::object()}}}}},
      {"total_flos", state.total_flos},
      {"train_batch_size", state.train_batch_size},
      {"trial_name", nullptr},
      {"trial_params", nullptr},
  };
  return core::to_python_json(file, {.indent = 2, .final_newline = true, .ascii = true});
}

std::string results_json(const Figures& figures) {
  return as_results(to_object(figures));
}

void write_results(const std::filesystem::path& folder, const std::string& split, const Figures& figures) {
  const std::filesystem::path all_path = folder / "all_results.json";
  json all = std::filesystem::exists(all_path) ? core::read_json_file(all_path) : json::object();
  if (!all.is_object())
    throw DataError({all_path.string()}, "is no JSON object; remove it or choose another output folder");
  all.update(to_object(figures));
  core::write_file_atomically(folder / (split + "_results.json"), results_json(figures));
  core::write_file_atomically(all_path, as_results(all));
}

}  // namespace ranktune::train
