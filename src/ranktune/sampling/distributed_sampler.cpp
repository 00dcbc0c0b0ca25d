#include "ranktune/sampling/distributed_sampler.h"

#include <algorithm>

#include "ranktune/sampling/divide.h"
#include "ranktune/sampling/sampler.h"

namespace ranktune::sampling {

std::int64_t DistributedSampler::size() const {
  // Dropped are only rows beyond the last round, so that a multiple of `ranks` keeps them all.
  if (options_.drop_last && rows_ % ranks_ != 0)
    return divide_up(std::max<std::int64_t>(rows_ - ranks_, 0), ranks_);
  return divide_up(rows_, ranks_);
}

std::vector<std::int64_t> DistributedSampler::order(std::int64_t epoch) const {
  const std::vector<std::int64_t> all = options_.shuffle ? RandomSampler(rows_, options_.seed).order(epoch)
                                                         : SequentialSampler(rows_).order(epoch);
  std::vector<std::int64_t> mine;
  for (std::int64_t i = 0; i < size(); ++i)
    mine.push_back(all[static_cast<std::size_t>((i * ranks_ + rank_) % rows_)]);
  return mine;
}

std::vector<std::vector<std::int64_t>> shard_batches(std::int64_t rows, const BatchSharding& sharding,
                                                     std::int64_t rank) {
  const std::int64_t b = sharding.per_device_batch, round = sharding.ranks * b;
  const std::int64_t rounds = sharding.drop_last ? rows / round : divide_up(rows, round);
  const std::int64_t reserve = std::min(rows, round);
  const bool fill = sharding.even_batches && !sharding.drop_last;
  std::vector<std::vector<std::int64_t>> batches;
  for (std::int64_t begin = rank * b; begin < rounds * round; begin += round) {
    const std::int64_t end = fill ? begin + b : std::min(begin + b, rows);
    if (begin >= end) break;
    std::vector<std::int64_t>& batch = batches.emplace_back();
    for (std::int64_t place = begin; place < end; ++place)
      batch.push_back(place < rows ? place : (place - rows) % reserve);
  }
  return batches;
}

}  // namespace ranktune::sampling
