#include "ranktune/sampling/sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ranktune/core/random.h"

namespace ranktune::sampling {

std::vector<std::int64_t> SequentialSampler::order(std::int64_t /*epoch*/) const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(rows_));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<std::int64_t> RandomSampler::order(std::int64_t epoch) const {
  return core::random_permutation(rows_, seed_ + static_cast<std::uint64_t>(epoch));
}

LengthGroupedSampler::LengthGroupedSampler(std::vector<std::int64_t> lengths, std::int64_t global_batch,
                                           std::uint64_t seed)
    : lengths_(std::move(lengths)), global_batch_(global_batch), seed_(seed) {}

std::vector<std::int64_t> LengthGroupedSampler::order(std::int64_t epoch) const {
  return length_grouped_order(lengths_, global_batch_, seed_ + static_cast<std::uint64_t>(epoch));
}

std::vector<std::int64_t> length_grouped_order(const std::vector<std::int64_t>& lengths, std::int64_t batch,
                                               std::uint64_t seed) {
  const auto rows = static_cast<std::int64_t>(lengths.size());
  std::vector<std::int64_t> order = core::random_permutation(rows, seed);
  const std::int64_t batches_per_run = std::clamp<std::int64_t>(rows / (4 * batch), 1, 50);
  const std::int64_t run = batches_per_run * batch;
  const auto length_of = [&lengths](std::int64_t row) { return lengths[static_cast<std::size_t>(row)]; };
  std::int64_t longest = 0;  // place of the first run's head that no other head exceeds
  for (std::int64_t begin = 0; begin < rows; begin += run) {
    const auto first = order.begin() + begin;
    std::stable_sort(first, order.begin() + std::min(begin + run, rows),
                     [&](std::int64_t a, std::int64_t b) { return length_of(a) > length_of(b); });
    if (length_of(*first) > length_of(order[static_cast<std::size_t>(longest)])) longest = begin;
  }
  if (rows > 0) std::swap(order[0], order[static_cast<std::size_t>(longest)]);
  return order;
}

}  // namespace ranktune::sampling
