#include "ranktune/train/trainer_state.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "support/temporary_folder.h"

namespace ranktune::train {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The keys and kinds of values in the files of one run of the Trainer of transformers 5.24.
json trainer_shapes() {
  return core::read_json_file(std::filesystem::path(RANKTUNE_SOURCE_DIR) /
                              "tests/fixtures/trainer_state/keys.json");
}

json shape_of(const json& value) {
  if (value.is_object()) {
    json shape = json::object();
    for (const auto& [key, member] : value.items()) shape[key] = shape_of(member);
    return shape;
  }
  if (value.is_array()) {
    json shape = json::array();
    for (const json& member : value) shape.push_back(shape_of(member));
    return shape;
  }
  if (value.is_null()) return "NoneType";
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "str";
  return value.is_number_float() ? "float" : "int";
}

std::size_t indent_of(const std::string& text) {
  const std::size_t line = text.find('\n') + 1;
  return text.find_first_not_of(' ', line) - line;
}

Figures joined(Figures first, const Figures& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Figures eval_figures() {
  return joined({{"eval_loss", 0.6931}, {"eval_accuracy", 0.5}}, speed_figures("eval", {0.25, 10, 3}));
}

Figures train_figures() {
  return joined(speed_figures("train", {2.0, 15, 5}),
                {{"total_flos", 184680.0}, {"train_loss", 0.6931512594223023}});
}

/// The same run as the one behind trainer_shapes(): evaluated after each epoch, logged every two updates.
TrainerState sample_state() {
  TrainerState state;
  state.epoch = 1.6666666666666665;
  state.global_step = 5;
  state.max_steps = 5;
  state.num_train_epochs = 2;
  state.train_batch_size = 4;
  state.logging_steps = 2;
  state.total_flos = 184680.0;
  state.should_save = true;
  state.should_training_stop = true;
  state.log_history = {update_entry({0.6932276487350464, 0.00015124442870728672, 4e-05, 2.0 / 3, 2}),
                       summary_entry(eval_figures(), 1.0, 3),
                       update_entry({0.6931177377700806, 0.36267611384391785, 2e-05, 4.0 / 3, 4}),
                       summary_entry(eval_figures(), 5.0 / 3, 5), summary_entry(train_figures(), 5.0 / 3, 5)};
  return state;
}

TEST(TrainerState, HasTheKeysKindsAndStyleOfTheTrainersFile) {
  const json shapes = trainer_shapes();
  const std::string text = to_json(sample_state());
  EXPECT_EQ(shape_of(core::parse_json(text, "state")), shapes["trainer_state.json"]);
  const json style = shapes["trainer_state.json style"];
  EXPECT_EQ(indent_of(text), style["indent"].get<std::size_t>());
  EXPECT_EQ(text.ends_with("\n"), style["final_newline"].get<bool>());
}

TEST(TrainerState, WritesItsNumbersWithAllDigits) {
  const std::string text = to_json(sample_state());
  EXPECT_THAT(text, HasSubstr("\"epoch\": 1.6666666666666665,\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "    {\n      \"epoch\": 0.6666666666666666,\n      \"grad_norm\": 0.00015124442870728672,\n"
          "      \"learning_rate\": 4e-05,\n      \"loss\": 0.6932276487350464,\n      \"step\": 2\n    },"));
  EXPECT_THAT(text, HasSubstr("\"total_flos\": 184680.0,\n"));
  EXPECT_THAT(text, HasSubstr("\"should_training_stop\": true\n"));
}

TEST(TrainerState, WritesALossThatIsNotANumberAsPythonDoes) {
  TrainerState state;
  state.log_history = {update_entry({std::nan(""), 1, 5e-5, 1, 1})};
  EXPECT_THAT(to_json(state), HasSubstr("\"loss\": NaN,"));
}

TEST(EpochPosition, IsTheTrainersSumInDoubles) {
  EXPECT_EQ(core::python_float(epoch_position(1, 2, 3)), "1.6666666666666665");
  EXPECT_EQ(core::python_float(epoch_position(2, 1, 3)), "2.3333333333333335");
  EXPECT_EQ(epoch_position(0, 3, 3), 1.0);
}

TEST(UpdateEntry, KeepsTheOrderInWhichTheTrainerLogs) {
  std::vector<std::string> names;
  for (const auto& [name, figure] : update_entry({})) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("loss", "grad_norm", "learning_rate", "epoch", "step"));
}

TEST(SpeedFigures, AreRoundedAsPythonRounds) {
  // Python: round(0.27274999, 4), round(15/0.27274999, 3), round(5/0.27274999, 3)
  EXPECT_EQ(speed_figures("train", {0.27274999, 15, 5}), (Figures{{"train_runtime", 0.2727},
                                                                  {"train_samples_per_second", 54.995},
                                                                  {"train_steps_per_second", 18.332}}));
  // Python: round(2.5, 4), round(0.0625/2.5, 3), round(1/2.5, 3); and ties go by the double: round(0.0005, 3)
  // == 0.001
  EXPECT_EQ(
      speed_figures("eval", {2.5, 0.00125, 1}),
      (Figures{{"eval_runtime", 2.5}, {"eval_samples_per_second", 0.001}, {"eval_steps_per_second", 0.4}}));
  EXPECT_EQ(speed_figures("eval", {0, 10, 1}), (Figures{{"eval_runtime", 0.0}}));
}

TEST(WriteResults, LeavesTheTrainersFiles) {
  const tests::TemporaryFolder folder;
  Figures train = train_figures();
  train.emplace_back("train_samples", std::int64_t{10});
  train.emplace_back("epoch", 5.0 / 3);
  Figures eval = eval_figures();
  eval.emplace_back("eval_samples", std::int64_t{10});
  eval.emplace_back("epoch", 5.0 / 3);
  write_results(folder.path(), "train", train);
  write_results(folder.path(), "eval", eval);
  const json shapes = trainer_shapes();
  for (const std::string name : {"train_results.json", "eval_results.json", "all_results.json"}) {
    const std::string text = core::read_file(folder.path() / name);
    EXPECT_EQ(shape_of(core::parse_json(text, name)), shapes[name]) << name;
    EXPECT_EQ(indent_of(text), shapes[name + " style"]["indent"].get<std::size_t>());
    EXPECT_EQ(text.ends_with("\n"), shapes[name + " style"]["final_newline"].get<bool>());
  }
}

TEST(WriteResults, LaterFiguresWinAndOthersStay) {
  const tests::TemporaryFolder folder;
  write_results(folder.path(), "train", {{"epoch", 1.0}, {"train_loss", 0.5}});
  write_results(folder.path(), "eval", {{"epoch", 2.0}, {"eval_loss", 5e-05}});
  EXPECT_EQ(core::read_file(folder.path() / "all_results.json"),
            "{\n    \"epoch\": 2.0,\n    \"eval_loss\": 5e-05,\n    \"train_loss\": 0.5\n}");
  EXPECT_EQ(core::read_file(folder.path() / "train_results.json"),
            "{\n    \"epoch\": 1.0,\n    \"train_loss\": 0.5\n}");
}

TEST(WriteResults, RefusesAFileThatIsNoResult) {
  const tests::TemporaryFolder folder;
  folder.file("all_results.json", "[1]");
  EXPECT_THROW(write_results(folder.path(), "eval", {{"eval_loss", 1.0}}), DataError);
  folder.file("all_results.json", "{");
  EXPECT_THROW(write_results(folder.path(), "eval", {{"eval_loss", 1.0}}), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "eval_results.json"));
}

}  // namespace
}  // namespace ranktune::train
