#include "cli/scheduler_flags.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/json.h"
#include "ranktune/core/suggest.h"

namespace ranktune::cli {
namespace {

using train::IntervalStrategy;
using train::SchedulerKwargs;
using Type = train::SchedulerType;

/// A keyword argument that is a number: which schedules take it, and what it may be.
struct NumberKey {
  const char* name;
  std::optional<double> SchedulerKwargs::*member;
  std::vector<Type> schedules;
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool whole = false;
};

/// One that is a word.
struct WordKey {
  const char* name;
  std::optional<std::string> SchedulerKwargs::*member;
  Type schedule;
  std::vector<std::string> choices;
};

std::vector<NumberKey> number_keys() {
  using K = SchedulerKwargs;
  const std::vector<Type> lowest = {Type::cosine_with_min_lr, Type::cosine_warmup_with_min_lr};
  const std::vector<Type> plateau = {Type::reduce_lr_on_plateau}, stable = {Type::warmup_stable_decay};
  return {{"num_cycles",
           &K::num_cycles,
           {Type::cosine, Type::cosine_with_restarts, Type::cosine_with_min_lr,
            Type::cosine_warmup_with_min_lr, Type::warmup_stable_decay}},
          {"lr_end", &K::lr_end, {Type::polynomial}},
          {"power", &K::power, {Type::polynomial}},
          {.name = "timescale",
           .member = &K::timescale,
           .schedules = {Type::inverse_sqrt},
           .least = 1,
           .whole = true},
          {"min_lr",
           &K::min_lr,
           {Type::cosine_with_min_lr, Type::cosine_warmup_with_min_lr, Type::reduce_lr_on_plateau}},
          {"min_lr_rate", &K::min_lr_rate, lowest, 0, 1},
          {"warmup_lr_rate", &K::warmup_lr_rate, {Type::cosine_warmup_with_min_lr}, 0, 1},
          {.name = "num_decay_steps", .member = &K::num_decay_steps, .schedules = stable, .whole = true},
          {.name = "num_stable_steps", .member = &K::num_stable_steps, .schedules = stable, .whole = true},
          {"min_lr_ratio", &K::min_lr_ratio, stable, 0, 1},
          {"factor", &K::factor, plateau, 0, 1},
          {.name = "patience", .member = &K::patience, .schedules = plateau, .whole = true},
          {"threshold", &K::threshold, plateau},
          {.name = "cooldown", .member = &K::cooldown, .schedules = plateau, .whole = true},
          {"eps", &K::eps, plateau}};
}

std::vector<WordKey> word_keys() {
  using K = SchedulerKwargs;
  const std::vector<std::string> shapes = {"linear", "cosine", "1-sqrt"};
  return {{"warmup_type", &K::warmup_type, Type::warmup_stable_decay, shapes},
          {"decay_type", &K::decay_type, Type::warmup_stable_decay, shapes},
          {"mode", &K::mode, Type::reduce_lr_on_plateau, {"min", "max"}},
          {"threshold_mode", &K::threshold_mode, Type::reduce_lr_on_plateau, {"rel", "abs"}}};
}

/// Shells and launchers often make a text of a number.
std::optional<double> number_of(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? parse_number(value.get<std::string>()) : std::nullopt;
}

/// What is wrong with one keyword argument, or "".
std::string take(const std::string& name, const nlohmann::json& value, SchedulerKwargs& kwargs) {
  std::vector<std::string> known;
  for (const NumberKey& key : number_keys()) {
    known.emplace_back(key.name);
    if (name != key.name) continue;
    kwargs.*key.member = number_of(value);
    return kwargs.*key.member ? "" : "has " + name + " " + value.dump() + ", which is not a number";
  }
  for (const WordKey& key : word_keys()) {
    known.emplace_back(key.name);
    if (name != key.name) continue;
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    if (std::find(key.choices.begin(), key.choices.end(), word) == key.choices.end())
      return "has " + name + " " + in_quotes(word) + ", which " + choice_complaint(key.choices);
    kwargs.*key.member = word;
    return "";
  }
  const std::string nearest = core::nearest_word(name, known);
  return "has " + in_quotes(name) + ", which no schedule takes" +
         (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

std::string take_all(const std::string& text, SchedulerKwargs& kwargs) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return R"(is no JSON object such as {"num_cycles": 2})";
  kwargs = {};
  for (const auto& [name, value] : json.items())
    if (std::string complaint = take(name, value, kwargs); !complaint.empty()) return complaint;
  return "";
}

std::string name_of(Type type) {
  for (const auto& [name, known] : scheduler_names())
    if (known == type) return name;
  return "";
}

bool contains(const std::vector<Type>& types, Type type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// "takes lr_end, power", or "takes none".
std::string what_it_takes(Type type) {
  std::string list;
  const auto append = [&](const char* name) { list += (list.empty() ? "takes " : ", ") + std::string(name); };
  for (const NumberKey& key : number_keys())
    if (contains(key.schedules, type)) append(key.name);
  for (const WordKey& key : word_keys())
    if (key.schedule == type) append(key.name);
  return list.empty() ? "takes none" : list;
}

void require_known(const char* key, bool given, bool taken, Type type) {
  if (given && !taken)
    throw UsageError("--lr_scheduler_kwargs " + std::string(key) + ": --lr_scheduler_type " + name_of(type) +
                     " " + what_it_takes(type));
}

void check_number(const NumberKey& key, double value) {
  const std::string flag = "--lr_scheduler_kwargs " + std::string(key.name) + " " + core::python_float(value);
  if (key.whole && value != std::floor(value)) throw UsageError(flag + ": it must be a whole number");
  if (value >= key.least && value <= key.most) return;
  const std::string least = core::python_float(key.least);
  throw UsageError(flag + ": it must be " +
                   (std::isinf(key.most) ? least + " or more"
                                         : "between " + least + " and " + core::python_float(key.most)));
}

/// What single schedules need.
void check_needs(const train::TrainingArguments& training) {
  const SchedulerKwargs& kwargs = training.lr_scheduler_kwargs;
  const Type type = training.lr_scheduler_type;
  const std::string named = "--lr_scheduler_type " + name_of(type);
  const bool lowest = type == Type::cosine_with_min_lr || type == Type::cosine_warmup_with_min_lr;
  if (lowest && kwargs.min_lr.has_value() == kwargs.min_lr_rate.has_value())
    throw UsageError(named +
                     R"( needs its lowest rate, one of min_lr and min_lr_rate: add --lr_scheduler_kwargs )" +
                     R"('{"min_lr_rate": 0.1}')");
  if (type == Type::warmup_stable_decay && !kwargs.num_decay_steps)
    throw UsageError(
        named + R"( needs the length of its decay: add --lr_scheduler_kwargs '{"num_decay_steps": 100}')");
  if (type == Type::polynomial && kwargs.lr_end.value_or(1e-7) >= training.learning_rate)
    throw UsageError("--lr_scheduler_kwargs lr_end " + core::python_float(kwargs.lr_end.value_or(1e-7)) +
                     ": it must be below --learning_rate " + core::python_float(training.learning_rate));
  if (type == Type::reduce_lr_on_plateau && training.eval_strategy == IntervalStrategy::no)
    throw UsageError(named + " watches the loss of evaluations: add --eval_strategy steps or epoch");
}

}  // namespace

std::vector<std::pair<std::string, Type>> scheduler_names() {
  return {{"linear", Type::linear},
          {"cosine", Type::cosine},
          {"cosine_with_restarts", Type::cosine_with_restarts},
          {"polynomial", Type::polynomial},
          {"constant", Type::constant},
          {"constant_with_warmup", Type::constant_with_warmup},
          {"inverse_sqrt", Type::inverse_sqrt},
          {"reduce_lr_on_plateau", Type::reduce_lr_on_plateau},
          {"cosine_with_min_lr", Type::cosine_with_min_lr},
          {"cosine_warmup_with_min_lr", Type::cosine_warmup_with_min_lr},
          {"warmup_stable_decay", Type::warmup_stable_decay}};
}

Flag scheduler_kwargs_flag(SchedulerKwargs& kwargs) {
  return {
      .name = "lr_scheduler_kwargs",
      .kind = FlagKind::object,
      .value_name = "JSON",
      .help = R"(what shapes the schedule, such as '{"num_cycles": 2}')",
      .set = [&kwargs](const std::vector<std::string>& words) { return take_all(words.front(), kwargs); }};
}

void check_schedule(const train::TrainingArguments& training) {
  const SchedulerKwargs& kwargs = training.lr_scheduler_kwargs;
  const Type type = training.lr_scheduler_type;
  for (const NumberKey& key : number_keys()) {
    const std::optional<double>& value = kwargs.*key.member;
    require_known(key.name, value.has_value(), contains(key.schedules, type), type);
    if (value) check_number(key, *value);
  }
  for (const WordKey& key : word_keys())
    require_known(key.name, (kwargs.*key.member).has_value(), key.schedule == type, type);
  check_needs(training);
}

}  // namespace ranktune::cli
