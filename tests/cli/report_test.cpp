#include "cli/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <new>

#include "cli/exit_code.h"
#include "ranktune/core/error.h"

namespace ranktune::cli {
namespace {

TEST(MetricsBlock, LooksLikeTheTrainers) {
  // The Trainer prints these very lines for these values.
  EXPECT_EQ(metrics_block("eval", {{"epoch", 3.0},
                                   {"eval_accuracy", 0.908125},
                                   {"eval_loss", 0.25},
                                   {"eval_runtime", 179.126},
                                   {"eval_samples", 601},
                                   {"eval_samples_per_second", 201.434}}),
            "***** eval metrics *****\n"
            "  epoch                   =        3.0\n"
            "  eval_accuracy           =     0.9081\n"
            "  eval_loss               =       0.25\n"
            "  eval_runtime            = 0:02:59.12\n"
            "  eval_samples            =        601\n"
            "  eval_samples_per_second =    201.434\n");
  EXPECT_EQ(metrics_block("train", {{"train_loss", NAN}, {"total_flos", 5e12}, {"train_runtime", 90061.5}}),
            "***** train metrics *****\n"
            "  train_loss    =               NaN\n"
            "  total_flos    =            4656GF\n"
            "  train_runtime = 1 day, 1:01:01.50\n");
  EXPECT_EQ(metrics_block("train", {}), "");
}

TEST(ClassTable, AlignsLabelsOfAnyScript) {
  const train::JobReport report = {
      .eval_metrics = {{"eval_loss", 0.3}, {"eval_accuracy", 0.75}},
      .macro_f1 = 0.7333,
      .classes = {{"négatif", 0.5, 1, 0.66667, 3}, {"ok", 1, 0.66667, 0.8, 12345}}};
  EXPECT_EQ(class_table(report),
            "accuracy  0.7500\n"
            "macro F1  0.7333\n\n"
            "label    precision  recall      F1     rows\n"
            "négatif     0.5000  1.0000  0.6667        3\n"
            "ok          1.0000  0.6667  0.8000    12345\n");
  EXPECT_EQ(class_table({}), "");
}

TEST(ClassTable, CutsLongLabels) {
  const train::JobReport report = {.classes = {{std::string(50, 'x'), 1, 1, 1, 1}}};
  EXPECT_NE(class_table(report).find("\n" + std::string(39, 'x') + "…     1.0000"), std::string::npos)
      << class_table(report);
}

TEST(ShellQuoted, GivesBackTheSameWordToAShell) {
  EXPECT_EQ(shell_quoted("build/bin/ranktune"), "build/bin/ranktune");
  EXPECT_EQ(shell_quoted("my model"), "'my model'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(NextSteps, NameTheModelAndACommandThatWorks) {
  train::TextClassificationArguments arguments;
  arguments.training.output_dir = "my out";
  arguments.training.do_train = true;
  EXPECT_EQ(next_steps(arguments, "build/bin/ranktune"),
            "The model is in 'my out'. Try it:\n"
            "  build/bin/ranktune predict --model 'my out' \"a text of your own\"\n");
  arguments.data.text_column_names = {"premise", "hypothesis"};
  EXPECT_NE(next_steps(arguments, "ranktune").find("--file ROWS.csv"), std::string::npos);
  arguments.training.do_train = false;
  arguments.training.do_predict = true;
  EXPECT_EQ(next_steps(arguments, "ranktune"), "The predictions are in 'my out/predict_results.txt'\n");
}

TEST(ExitCode, TellsBadInputFromFailure) {
  EXPECT_EQ(exit_code_of(UsageError("x")), ExitCode::usage);
  EXPECT_EQ(exit_code_of(DataError({"a.csv", 3, 1}, "x")), ExitCode::usage);
  EXPECT_EQ(exit_code_of(CheckpointError("x")), ExitCode::usage);
  EXPECT_EQ(exit_code_of(TrainingError("x")), ExitCode::failure);
  EXPECT_EQ(exit_code_of(std::runtime_error("x")), ExitCode::failure);
}

TEST(OneLine, LeavesOutStackTraces) {
  EXPECT_EQ(one_line(std::runtime_error("\nshapes differ\nException raised from add\nframe #0: x")),
            "shapes differ");
  EXPECT_EQ(one_line(DataError({"a.csv", 3, 1}, "is not UTF-8")), "a.csv:3:1: is not UTF-8");
  EXPECT_EQ(one_line(std::runtime_error("")), "an error without a message");
  EXPECT_EQ(one_line(std::bad_alloc()), "out of memory: give a smaller batch size or --max_seq_length");
}

}  // namespace
}  // namespace ranktune::cli
