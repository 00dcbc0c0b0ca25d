// Data-parallel training, the same program with one rank or many: ddp_minimal, or ranktune launch
// --nproc-per-node 2 ddp_minimal
#include <ranktune/dist/distributed_data_parallel.h>
#include <ranktune/launch/system_environment.h>
#include <torch/torch.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto env = ranktune::launch::detect_process(argc, argv).env;
  const auto group = ranktune::dist::init_process_group(env, {});
  torch::manual_seed(7);
  const auto net = std::make_shared<torch::nn::LinearImpl>(2, 1);
  ranktune::dist::DistributedDataParallel ddp(*group, net);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 200; ++step) {
    const auto x = torch::randn({64, 2}).chunk(env.world_size)[env.rank];  // this rank's rows of the batch
    const auto y = x.matmul(torch::tensor({2.0F, -1.0F})).unsqueeze(1) + 0.5;
    ddp.zero_grad();
    ddp.backward(torch::mse_loss(ddp.forward(x), y));
    optimizer.step();
  }
  if (env.is_main()) std::cout << net->weight << '\n' << net->bias << "\nwanted: 2 -1 and 0.5\n";
}
