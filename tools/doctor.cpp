#include "doctor.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/ones.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "ranktune/dist/collectives.h"

namespace ranktune {
namespace {

using nlohmann::json;

constexpr int kRepetitions = 20;

/// Median milliseconds, the first call left out.
double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i <= kRepetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  times.erase(times.begin());
  std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
  return times[kRepetitions / 2];
}

json time_all_reduce(dist::ProcessGroup& group, const at::Device& device, std::int64_t mib) {
  const std::int64_t numbers = mib * (1 << 20) / static_cast<std::int64_t>(sizeof(float));
  at::Tensor tensor = at::ones({numbers}, at::TensorOptions(device).dtype(at::kFloat));
  const double ms = median_ms([&] {
    dist::all_reduce_sum(group, tensor);
    tensor[0].item<float>();  // a GPU's work is awaited
  });
  return {{"mib", mib}, {"ms", ms}, {"gb_per_s", static_cast<double>(mib << 20) / ms / 1e6}};
}

}  // namespace

json describe_libtorch() {
  return {{"version", TORCH_VERSION},
          {"cuda", at::globalContext().hasCUDA()},
          {"backends", dist::available_backends()},
          {"cpu", at::get_cpu_capability()},
          {"threads", at::get_num_threads()}};
}

json examine_group(dist::ProcessGroup& group, const std::string& device) {
  const std::vector<std::string> devices = dist::all_gather(group, device);
  json ranks = json::array();
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const dist::Member& member = group.members()[rank];
    ranks.push_back({{"rank", rank},
                     {"local_rank", member.local_rank},
                     {"host", member.host},
                     {"pid", member.pid},
                     {"device", devices[rank]}});
  }
  json timings = {{"barrier_ms", median_ms([&] { group.barrier(); })}};
  for (const std::int64_t mib : {1, 16, 64})
    timings["all_reduce"].push_back(time_all_reduce(group, at::Device(device), mib));
  return {{"ranks", ranks}, {"timings", timings}};
}

}  // namespace ranktune
