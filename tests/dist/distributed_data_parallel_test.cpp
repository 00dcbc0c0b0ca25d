#include "ranktune/dist/distributed_data_parallel.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "support/ranks.h"

namespace ranktune::dist {
namespace {

using launch::LaunchEnv;
using tests::RankResult;
using tests::run_ranks;

struct Answer {
  at::Tensor sum;
  std::vector<std::pair<at::Tensor, int>> parts;
  template <typename Visit>
  void for_each_tensor(Visit& visit) {
    visit(sum);
    for (auto& [tensor, number] : parts) visit(tensor);
  }
};

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(3, 4));
    second = register_module("second", torch::nn::Linear(4, 1));
    calls = register_buffer("calls", torch::zeros({1}));
  }
  Answer forward(const at::Tensor& x, double factor) {
    calls.add_(1);
    const at::Tensor hidden = torch::tanh(first(x));
    return {second(hidden) * factor, {{hidden, 1}, {x, 2}}};
  }
  torch::nn::Linear first = nullptr, second = nullptr;
  at::Tensor calls;
};

at::Tensor batch() {
  return torch::arange(36, torch::kFloat).view({12, 3}).sin();
}

at::Tensor loss_of(const Answer& answer) {
  return answer.sum.pow(2).mean() + 0.1 * answer.parts[0].first.mean();
}

std::string weights(const torch::nn::Module& module) {
  std::string text;
  for (const auto& parameter : module.parameters())
    for (const float value : std::vector<float>(parameter.const_data_ptr<float>(),
                                                parameter.const_data_ptr<float>() + parameter.numel()))
      text += std::to_string(value).substr(0, 7) + " ";
  return text;
}

/// A rank with its rows of every batch. Each rank starts from other weights.
struct Learner {
  Learner(const LaunchEnv& env, const DistributedDataParallelOptions& options)
      : group(init_process_group(env, {})),
        net(fresh_net(env.rank)),
        ddp(*group, net, options),
        optimizer(net->parameters(), 0.5),
        rows(batch().chunk(env.world_size)[static_cast<std::size_t>(env.rank)]) {}

  static std::shared_ptr<Net> fresh_net(std::int64_t rank) {
    torch::manual_seed(static_cast<std::uint64_t>(1 + rank));
    return std::make_shared<Net>();
  }

  std::unique_ptr<ProcessGroup> group;
  std::shared_ptr<Net> net;
  DistributedDataParallel<Net> ddp;
  torch::optim::SGD optimizer;
  at::Tensor rows;
};

/// Three steps of a rank.
std::string train(const LaunchEnv& env, const DistributedDataParallelOptions& options,
                  bool accumulate = false) {
  Learner self(env, options);
  for (int step = 0; step < 3; ++step) {
    self.ddp.zero_grad();
    if (accumulate) {
      const auto parts = self.rows.chunk(2);
      {
        const auto quiet = self.ddp.no_sync();
        (loss_of(self.ddp.forward(parts[0], 2.0)) / 2).backward();
      }
      (loss_of(self.ddp.forward(parts[1], 2.0)) / 2).backward();
    } else {
      loss_of(self.ddp(self.rows, 2.0)).backward();
    }
    self.optimizer.step();
  }
  return weights(*self.net);
}

std::string train_alone() {
  const auto results = run_ranks(1, [](const LaunchEnv& env) {
    LaunchEnv alone = env;
    alone.local_rank = -1;
    return train(alone, {});
  });
  EXPECT_EQ(results[0].exit_code, 0) << results[0].text;
  return results[0].text;
}

void expect_all(const std::vector<RankResult>& results, const std::string& text) {
  for (const RankResult& result : results) {
    EXPECT_EQ(result.exit_code, 0) << result.text;
    EXPECT_EQ(result.text, text);
  }
}

TEST(DistributedDataParallel, TrainsAsOneProcessDoes) {
  const std::string alone = train_alone();
  EXPECT_FALSE(alone.empty());
  for (const int ranks : {2, 3})
    expect_all(run_ranks(ranks, [](const LaunchEnv& env) { return train(env, {}); }), alone);
}

TEST(DistributedDataParallel, TrainsTheSameWithEveryOption) {
  const std::string alone = train_alone();
  DistributedDataParallelOptions unused, fixed, view, devices;
  unused.find_unused_parameters = true;
  fixed.static_graph = true;
  view.gradient_as_bucket_view = true;
  devices.device_ids = {at::Device(at::kCPU)};
  devices.output_device = at::Device(at::kCPU);
  for (const auto& options : {unused, fixed, view, devices})
    expect_all(run_ranks(2, [&](const LaunchEnv& env) { return train(env, options); }), alone);
}

TEST(DistributedDataParallel, AccumulatesWithoutExchange) {
  expect_all(run_ranks(2, [](const LaunchEnv& env) { return train(env, {}, true); }), train_alone());
}

TEST(DistributedDataParallel, SendsRankZerosBuffersBeforeEachForwardPass) {
  const auto results = run_ranks(2, [](const LaunchEnv& env) {
    const auto group = init_process_group(env, {});
    const auto net = std::make_shared<Net>();
    DistributedDataParallel ddp(*group, net);
    for (int step = 0; step < 2; ++step) {
      loss_of(ddp(batch(), 1.0)).backward();
      net->calls.add_(static_cast<double>(10 * env.rank));
    }
    loss_of(ddp(batch(), 1.0)).backward();
    return std::to_string(net->calls.item<float>());
  });
  expect_all(results, "3.000000");
}

/// What joining is to give: with `steps` of each rank, the sums of the gradients of those that go on, over
/// the number of all ranks or of those.
std::string train_as_if_joined(const std::vector<int>& steps, bool divide_by_all) {
  torch::manual_seed(1);
  const auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), 0.5);
  const auto rows = batch().chunk(static_cast<std::int64_t>(steps.size()));
  for (int step = 0; step < *std::max_element(steps.begin(), steps.end()); ++step) {
    optimizer.zero_grad();
    int active = 0;
    for (const int count : steps) active += count > step ? 1 : 0;
    for (std::size_t rank = 0; rank < steps.size(); ++rank)
      if (steps[rank] > step)
        (loss_of(net->forward(rows[rank], 2.0)) / (divide_by_all ? static_cast<int>(steps.size()) : active))
            .backward();
    optimizer.step();
  }
  return weights(*net);
}

TEST(DistributedDataParallel, JoinLetsRanksHaveUnequalNumbersOfSteps) {
  DistributedDataParallelOptions unused;
  unused.find_unused_parameters = true;
  for (const std::vector<int>& steps : {std::vector<int>{1, 4}, {3, 0, 2}, {2, 2}}) {
    for (const bool divide_by_all : {true, false}) {
      const auto expected =
          run_ranks(1, [&](const LaunchEnv&) { return train_as_if_joined(steps, divide_by_all); });
      for (const DistributedDataParallelOptions& options : {DistributedDataParallelOptions(), unused}) {
        const auto results = run_ranks(static_cast<int>(steps.size()), [&](const LaunchEnv& env) {
          Learner self(env, options);
          self.ddp.join(
              [&] {
                for (int step = 0; step < steps[static_cast<std::size_t>(env.rank)]; ++step) {
                  self.ddp.zero_grad();
                  loss_of(self.ddp(self.rows, 2.0)).backward();
                  self.optimizer.step();
                }
              },
              {.divide_by_initial_world_size = divide_by_all});
          self.group->barrier();
          return weights(*self.net);
        });
        expect_all(results, expected[0].text);
      }
    }
  }
}

/// Steps of a rank; before step `last` it does `instead` and no more steps.
std::string train_until(const LaunchEnv& env, int last, const std::function<void()>& instead) {
  Learner self(env, {});
  for (int step = 0; step < 5; ++step) {
    if (env.rank == 1 && step == last) {
      instead();
      return "left";
    }
    self.ddp.zero_grad();
    self.ddp.backward(loss_of(self.ddp(self.rows, 2.0)));
    self.optimizer.step();
  }
  return "went on";
}

TEST(DistributedDataParallel, EndsWhenARankIsKilledBetweenItsSteps) {
  const auto results =
      run_ranks(3, [](const LaunchEnv& env) { return train_until(env, 2, [] { ::raise(SIGKILL); }); });
  EXPECT_EQ(results[1].signal, SIGKILL);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(results[rank].exit_code, 1);
    EXPECT_NE(results[rank].text.find(" failed after "), std::string::npos) << results[rank].text;
  }
}

TEST(DistributedDataParallel, EndsWhenARankHasFewerStepsAndSaysWhatToDo) {
  const auto results = run_ranks(2, [](const LaunchEnv& env) { return train_until(env, 2, [] {}); });
  EXPECT_EQ(results[1].text, "left");
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_NE(results[0].text.find("rank 1 had fewer steps and left; ranks with unequal amounts of data need"),
            std::string::npos)
      << results[0].text;
}

TEST(DistributedDataParallel, RefusesDevicesThatDoNotFit) {
  for (const RankResult& result : run_ranks(1, [](const LaunchEnv& env) {
         const auto group = init_process_group(env, {});
         DistributedDataParallelOptions options;
         options.device_ids = {at::Device(at::kCPU), at::Device(at::kCUDA, 1)};
         DistributedDataParallel ddp(*group, std::make_shared<Net>(), options);
         return std::string("went on");
       }))
    EXPECT_NE(result.text.find("device_ids names 2 devices"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace ranktune::dist
