#include "ranktune/dist/data_parallel.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace ranktune::dist {
namespace {

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    first = register_module("first", torch::nn::Linear(3, 4));
    frozen = register_module("frozen", torch::nn::Linear(4, 4));
    second = register_module("second", torch::nn::Linear(4, 2));
    for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
  }
  std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x, double factor) {
    if (x.size(0) > 0 && x[0][0].item<float>() > 100) throw std::runtime_error("a number too large");
    const at::Tensor hidden = torch::tanh(frozen(torch::tanh(first(x))));
    return {second(hidden) * factor, hidden.sum()};
  }
  torch::nn::Linear first = nullptr, frozen = nullptr, second = nullptr;
};

std::shared_ptr<NetImpl> make_net() {
  torch::manual_seed(3);
  return std::make_shared<NetImpl>();
}

std::vector<at::Device> replicas(std::size_t count) {
  return std::vector<at::Device>(count, at::Device(at::kCPU));
}

at::Tensor rows(std::int64_t count) {
  return torch::arange(count * 3, torch::kFloat).view({count, 3}).sin();
}

at::Tensor loss_of(const std::pair<at::Tensor, at::Tensor>& output) {
  return output.first.pow(2).mean() + output.second.sum();
}

std::vector<at::Tensor> gradients_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : module.parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

TEST(DataParallel, GivesTheGradientsOfOneDeviceHoweverRowsAreDealt) {
  for (const std::int64_t count : {1, 2, 5, 12}) {
    for (const std::size_t devices : {1U, 2U, 3U, 5U}) {
      const auto net = make_net(), alone = make_net();
      loss_of(alone->forward(rows(count), 2.0)).backward();
      DataParallel parallel(net, replicas(devices));
      const auto output = parallel(rows(count), 2.0);
      EXPECT_EQ(output.first.sizes(), (std::vector<std::int64_t>{count, 2}));
      loss_of(output).backward();
      const auto expected = gradients_of(*alone), found = gradients_of(*net);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(found[i].defined(), expected[i].defined());
        if (!found[i].defined()) continue;
        EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-5, 1e-6)) << i;
      }
    }
  }
}

TEST(DataParallel, ReplicasFollowTheModuleFromUpdateToUpdate) {
  const auto net = make_net(), alone = make_net();
  DataParallel parallel(net, replicas(3));
  torch::optim::SGD first(net->parameters(), 0.1), second(alone->parameters(), 0.1);
  for (int step = 0; step < 4; ++step) {
    first.zero_grad();
    second.zero_grad();
    loss_of(parallel(rows(7), 1.0)).backward();
    loss_of(alone->forward(rows(7), 1.0)).backward();
    first.step();
    second.step();
  }
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    EXPECT_TRUE(at::allclose(net->parameters()[i], alone->parameters()[i], 1e-4, 1e-6)) << i;
}

TEST(DataParallel, RemembersNothingWhereGradientsAreOff) {
  const at::NoGradGuard no_gradients;
  DataParallel parallel(std::make_shared<NetImpl>(), replicas(2));
  EXPECT_FALSE(parallel(rows(4), 1.0).first.requires_grad());
}

TEST(DataParallel, AnErrorOfOneReplicaComesOut) {
  DataParallel parallel(std::make_shared<NetImpl>(), replicas(2));
  at::Tensor input = rows(4);
  input[2][0] = 1000;
  EXPECT_THROW(parallel(input, 1.0), std::runtime_error);
}

TEST(DataParallel, RefusesWhatItCannotDeal) {
  EXPECT_THROW(DataParallel(std::make_shared<NetImpl>(), {}), UsageError);
  DataParallel parallel(std::make_shared<NetImpl>(), replicas(2));
  EXPECT_THROW(parallel(torch::tensor(1.0F), 1.0), UsageError);
}

}  // namespace
}  // namespace ranktune::dist
