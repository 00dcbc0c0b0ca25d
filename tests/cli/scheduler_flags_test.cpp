#include "cli/scheduler_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "ranktune/core/error.h"
#include "ranktune/train/schedule.h"
#include "support/error_text.h"
#include "support/fixture.h"

namespace ranktune::cli {
namespace {

using ::testing::HasSubstr;

train::TrainingArguments parse(std::vector<std::string> more) {
  std::vector<std::string> words = {"--model_name_or_path", "m", "--do_train", "--train_file", "t.csv",
                                    "--output_dir",         "o"};
  words.insert(words.end(), more.begin(), more.end());
  return parse_train(words).arguments.training;
}

train::TrainingArguments parse(const std::string& type, const std::string& kwargs) {
  return parse({"--lr_scheduler_type", type, "--lr_scheduler_kwargs", kwargs});
}

std::string complaint(const std::string& type, const std::string& kwargs) {
  return tests::error_text<UsageError>([&] { parse(type, kwargs); });
}

// transformers' and torch's own rates: scripts/make_schedule_fixture.py.

TEST(Schedules, FollowThoseOfTransformersOverFiveHundredUpdates) {
  const nlohmann::json fixture = tests::read_fixture("schedules/schedules.json");
  const auto rate = fixture.at("learning_rate").get<double>();
  for (const nlohmann::json& one : fixture.at("schedules")) {
    const train::TrainingArguments training =
        parse({"--lr_scheduler_type", one.at("type").get<std::string>(), "--lr_scheduler_kwargs",
               one.at("kwargs").dump(), "--learning_rate", std::to_string(rate)});
    const train::Schedule schedule{.type = training.lr_scheduler_type,
                                   .kwargs = training.lr_scheduler_kwargs,
                                   .learning_rate = training.learning_rate,
                                   .warmup_updates = one.at("warmup").get<std::int64_t>(),
                                   .total_updates = one.at("total").get<std::int64_t>()};
    const auto rates = one.at("rates").get<std::vector<double>>();
    ASSERT_EQ(rates.size(), 500U);
    for (std::size_t i = 0; i < rates.size(); ++i)
      EXPECT_NEAR(rate * learning_rate_multiplier(schedule, static_cast<std::int64_t>(i)), rates[i], 1e-16)
          << one.at("type") << one.at("kwargs") << ", update " << i;
  }
}

TEST(Schedules, LowerTheRateOnAPlateauAsTorchDoes) {
  const nlohmann::json fixture = tests::read_fixture("schedules/schedules.json");
  const auto losses = fixture.at("losses").get<std::vector<double>>();
  for (const nlohmann::json& one : fixture.at("plateaus")) {
    const train::TrainingArguments training =
        parse({"--lr_scheduler_type", "reduce_lr_on_plateau", "--lr_scheduler_kwargs",
               one.at("kwargs").dump(), "--eval_strategy", "epoch", "--validation_file", "v.csv"});
    train::PlateauReducer reducer(training.lr_scheduler_kwargs, fixture.at("learning_rate").get<double>());
    const auto rates = one.at("rates").get<std::vector<double>>();
    for (std::size_t i = 0; i < losses.size(); ++i) {
      reducer.step(losses[i]);
      EXPECT_NEAR(reducer.learning_rate(), rates[i], 1e-16) << one.at("kwargs") << ", evaluation " << i;
    }
  }
}

TEST(SchedulerKwargs, ReadsNumbersAlsoWhereTheyAreTexts) {
  EXPECT_EQ(parse("cosine", R"({"num_cycles": "0.75"})").lr_scheduler_kwargs.num_cycles, 0.75);
  EXPECT_EQ(parse("linear", "{}").lr_scheduler_kwargs.num_cycles, std::nullopt);
}

TEST(SchedulerKwargs, RefusesWhatIsNone) {
  EXPECT_EQ(complaint("cosine", "num_cycles=2"),
            R"(--lr_scheduler_kwargs "num_cycles=2" is no JSON object such as {"num_cycles": 2})");
  EXPECT_THAT(complaint("cosine", R"({"num_cycle": 2})"),
              HasSubstr(R"(has "num_cycle", which no schedule takes; did you mean num_cycles?)"));
  EXPECT_THAT(complaint("cosine", R"({"num_cycles": true})"),
              HasSubstr("has num_cycles true, which is not a number"));
  EXPECT_THAT(complaint("warmup_stable_decay", R"({"decay_type": "steep"})"),
              HasSubstr(R"(has decay_type "steep", which is not one of linear, cosine, 1-sqrt)"));
}

TEST(SchedulerKwargs, RefusesThoseOfAnotherSchedule) {
  EXPECT_EQ(complaint("linear", R"({"num_cycles": 2})"),
            "--lr_scheduler_kwargs num_cycles: --lr_scheduler_type linear takes none");
  EXPECT_EQ(complaint("polynomial", R"({"mode": "min"})"),
            "--lr_scheduler_kwargs mode: --lr_scheduler_type polynomial takes lr_end, power");
}

TEST(SchedulerKwargs, RefusesWhatIsOutOfRangeOrMissing) {
  EXPECT_EQ(complaint("inverse_sqrt", R"({"timescale": 2.5})"),
            "--lr_scheduler_kwargs timescale 2.5: it must be a whole number");
  EXPECT_EQ(complaint("cosine_with_min_lr", R"({"min_lr_rate": 1.5})"),
            "--lr_scheduler_kwargs min_lr_rate 1.5: it must be between 0.0 and 1.0");
  EXPECT_THAT(complaint("cosine_with_min_lr", "{}"), HasSubstr("needs its lowest rate"));
  EXPECT_THAT(complaint("cosine_with_min_lr", R"({"min_lr_rate": 0.1, "min_lr": 1e-6})"),
              HasSubstr("one of min_lr and min_lr_rate"));
  EXPECT_THAT(complaint("warmup_stable_decay", "{}"), HasSubstr("num_decay_steps"));
  EXPECT_THAT(complaint("polynomial", R"({"lr_end": 1})"),
              HasSubstr("it must be below --learning_rate 5e-05"));
  EXPECT_THAT(complaint("reduce_lr_on_plateau", "{}"), HasSubstr("add --eval_strategy"));
}

}  // namespace
}  // namespace ranktune::cli
