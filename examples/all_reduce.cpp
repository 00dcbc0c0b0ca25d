// Who is there, and what do they add up to: ranktune launch --nproc-per-node 4 all_reduce
#include <ranktune/dist/collectives.h>
#include <ranktune/launch/system_environment.h>
#include <torch/torch.h>
#include <unistd.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto env = ranktune::launch::detect_process(argc, argv).env;
  const auto group = ranktune::dist::init_process_group(env, {});
  torch::Tensor sum = torch::full({3}, static_cast<float>(env.rank + 1));
  ranktune::dist::all_reduce_sum(*group, sum);
  const std::string me = "rank " + std::to_string(env.rank) + ", process " + std::to_string(::getpid());
  const auto everybody = ranktune::dist::all_gather(*group, me);
  if (!env.is_main()) return 0;
  for (const auto& line : everybody) std::cout << line << '\n';
  std::cout << "1 + ... + " << env.world_size << " = " << sum[0].item<float>() << '\n';
}
