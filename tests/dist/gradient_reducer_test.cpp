#include "ranktune/dist/gradient_reducer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "support/ranks.h"

namespace ranktune::dist {
namespace {

using launch::LaunchEnv;
using tests::RankResult;
using tests::run_ranks;

std::string numbers(const at::Tensor& tensor) {
  const at::Tensor flat = (tensor.is_sparse() ? tensor.to_dense() : tensor).to(at::kDouble).flatten();
  std::string text;
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    text += (i > 0 ? " " : "") + std::to_string(flat[i].item<double>()).substr(0, 5);
  return text;
}

void expect_all(const std::vector<RankResult>& results, const std::string& text) {
  for (const RankResult& result : results) {
    EXPECT_EQ(result.text, text);
    EXPECT_EQ(result.exit_code, 0);
  }
}

at::Tensor parameter(std::vector<double> values) {
  return at::tensor(values, at::kFloat).set_requires_grad(true);
}

/// One step: loss = sum(a * x) + sum(b * x) with x = rank + 1.
struct Model {
  at::Tensor a = parameter({1, 2}), b = parameter({3, 4, 5});
  SharedTensors shared() const { return {.parameters = {{"a", a}, {"b", b}}}; }
};

void step(GradientReducer& reducer, const Model& model, double x, bool use_b = true) {
  reducer.before_forward();
  const at::Tensor first = (model.a * x).sum(), second = (model.b * x).sum();
  const std::vector<at::Tensor> outputs = reducer.prepare({first, second});
  (use_b ? outputs[0] + outputs[1] : outputs[0]).backward();
}

TEST(GradientReducer, AveragesGradientsAndSharesRankZerosValues) {
  expect_all(
      run_ranks(3,
                [](const LaunchEnv& env) {
                  const auto group = init_process_group(env, {});
                  Model model;
                  {
                    const at::NoGradGuard no_grad;
                    model.a.add_(static_cast<double>(env.rank));
                  }
                  GradientReducer reducer(*group, model.shared(), {});
                  std::string text = numbers(model.a) + ": ";
                  for (int i = 0; i < 3; ++i) {  // buckets are rebuilt after the first
                    step(reducer, model, static_cast<double>(env.rank + 1));
                    text += numbers(model.a.grad()) + ", " + numbers(model.b.grad()) + "; ";
                    reducer.zero_grad();
                  }
                  return text;
                }),
      "1.000 2.000: 2.000 2.000, 2.000 2.000 2.000; 2.000 2.000, 2.000 2.000 2.000; 2.000 2.000, 2.000 2.000 "
      "2.000; ");
}

TEST(GradientReducer, NamesParametersWithoutAGradientAtOnce) {
  for (const RankResult& result : run_ranks(2, [](const LaunchEnv& env) {
         const auto group = init_process_group(env, {});
         const Model model;
         GradientReducer reducer(*group, model.shared(), {});
         step(reducer, model, 1, false);
         return std::string("went on");
       })) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.text.find("1 parameters got no gradient: b; "), std::string::npos) << result.text;
  }
}

TEST(GradientReducer, FindsParametersThatOnlySomeRanksUse) {
  expect_all(run_ranks(2,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         const Model model;
                         GradientReducer reducer(*group, model.shared(), {.find_unused_parameters = true});
                         step(reducer, model, 4, env.rank == 0);
                         std::string text = numbers(model.a.grad()) + ", " + numbers(model.b.grad());
                         reducer.zero_grad();
                         step(reducer, model, 4, false);  // nobody uses b: it has no gradient
                         return text + (model.b.grad().defined() ? " defined" : " undefined");
                       }),
             "4.000 4.000, 2.000 2.000 2.000 undefined");
}

TEST(GradientReducer, AddsUpWithoutSynchronisation) {
  expect_all(run_ranks(2,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         const Model model;
                         GradientReducer reducer(*group, model.shared(), {});
                         reducer.set_synchronised(false);
                         step(reducer, model, 10.0 * static_cast<double>(env.rank));
                         reducer.set_synchronised(true);
                         step(reducer, model, 1);
                         return numbers(model.a.grad());
                       }),
             "6.000 6.000");
}

TEST(GradientReducer, ReducesSparseGradientsAlsoOfEmptyBatches) {
  expect_all(
      run_ranks(3,
                [](const LaunchEnv& env) {
                  const auto group = init_process_group(env, {});
                  const at::Tensor table = at::zeros({4, 1}).set_requires_grad(true), other = parameter({1});
                  GradientReducer reducer(
                      *group,
                      {.parameters = {{"table", table}, {"other", other}}, .sparse_gradients = {"table"}},
                      {});
                  std::string text;
                  for (int i = 0; i < 2; ++i) {
                    reducer.before_forward();
                    const at::Tensor ids = at::arange(env.rank, at::kLong);  // rank 0: none; 1: 0; 2: 0 and 1
                    const at::Tensor rows = at::embedding(table, ids, -1, false, /*sparse=*/true);
                    reducer.prepare({(rows * other).sum() * 3}).front().backward();
                    text += (table.grad().is_sparse() ? "sparse " : "dense ") + numbers(table.grad()) + "; ";
                    reducer.zero_grad();
                  }
                  return text;
                }),
      "sparse 2.000 1.000 0.000 0.000; sparse 2.000 1.000 0.000 0.000; ");
}

TEST(GradientReducer, KeepsGradientsInItsBucketsWhereAsked) {
  expect_all(run_ranks(2,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         const Model model;
                         GradientReducer reducer(*group, model.shared(), {.gradient_as_bucket_view = true});
                         std::string text;
                         for (int i = 0; i < 3; ++i) {
                           step(reducer, model, static_cast<double>(env.rank + i));
                           text += numbers(model.a.grad()) + "; ";
                           reducer.zero_grad();
                         }
                         return text + numbers(model.a.grad());
                       }),
             "0.500 0.500; 1.500 1.500; 2.500 2.500; 0.000 0.000");
}

TEST(GradientReducer, SendsHalfTheBytesWhereAsked) {
  for (const CommHook hook : {CommHook::fp16, CommHook::bf16})
    expect_all(
        run_ranks(2,
                  [hook](const LaunchEnv& env) {
                    const auto group = init_process_group(env, {});
                    const Model model;
                    GradientReducer reducer(*group, model.shared(), {.hook = hook});
                    std::string text;
                    for (int i = 0; i < 2; ++i) {
                      step(reducer, model, env.rank == 0 ? 1.0 : 1.0 + 1.0 / 65536);  // finer than 16 bits
                      text += model.a.grad().equal(at::ones({2})) ? "rounded " : numbers(model.a.grad());
                      reducer.zero_grad();
                    }
                    return text;
                  }),
        "rounded rounded ");
}

TEST(GradientReducer, WorksOnAStaticGraph) {
  expect_all(run_ranks(2,
                       [](const LaunchEnv& env) {
                         const auto group = init_process_group(env, {});
                         const Model model;
                         GradientReducer reducer(*group, model.shared(), {.static_graph = true});
                         std::string text;
                         for (int i = 0; i < 3; ++i) {
                           step(reducer, model, static_cast<double>(env.rank + 1));
                           text += numbers(model.a.grad()) + "; ";
                           reducer.zero_grad();
                         }
                         return text;
                       }),
             "1.500 1.500; 1.500 1.500; 1.500 1.500; ");
}

TEST(GradientReducer, NamesTheRankWhoseModelDiffers) {
  for (const RankResult& result : run_ranks(3, [](const LaunchEnv& env) {
         const auto group = init_process_group(env, {});
         Model model;
         if (env.rank == 2) model.b = parameter({1, 2});
         GradientReducer reducer(*group, model.shared(), {});
         return std::string("went on");
       })) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.text.find("rank 2 has another model than rank 0: b [3,] float there, b [2,] float here"),
              std::string::npos)
        << result.text;
  }
}

TEST(GradientReducer, RefusesAModelWithNothingToTrain) {
  for (const RankResult& result : run_ranks(1, [](const LaunchEnv& env) {
         const auto group = init_process_group(env, {});
         GradientReducer reducer(*group, {.parameters = {{"a", at::ones({1})}}}, {});
         return std::string("went on");
       }))
    EXPECT_NE(result.text.find("no parameter needs a gradient"), std::string::npos);
}

}  // namespace
}  // namespace ranktune::dist
