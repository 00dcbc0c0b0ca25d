#pragma once

#include <cstdint>
#include <vector>

/// How Python deals an epoch's rows among ranks, index for index: torch's DistributedSampler and accelerate's
/// sharding of batches. Both may repeat rows so that every rank gets the same number; deal_batches in
/// step_plan.h never does.
namespace ranktune::sampling {

struct DistributedSamplerOptions {
  bool shuffle = true;
  std::uint64_t seed = 0;  ///< the same on all ranks; torch's default, not the Trainer's
  bool drop_last = false;  ///< leave rows out where they cannot be dealt evenly, else repeat the first ones
};

/// torch.utils.data.DistributedSampler: from the epoch's order, rank r takes rows r, r + ranks, ... THREAD
/// SAFETY: the const functions may be called from several threads.
class DistributedSampler {
 public:
  /// REQUIRES: rows >= 0, 0 <= rank < ranks.
  DistributedSampler(std::int64_t rows, std::int64_t ranks, std::int64_t rank,
                     const DistributedSamplerOptions& options = {})
      : rows_(rows), ranks_(ranks), rank_(rank), options_(options) {}

  /// Rows of this rank in an epoch: the same number on every rank.
  std::int64_t size() const;

  /// This rank's rows in the given epoch. REQUIRES: epoch >= 0.
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// For loops written as in Python: order() is then that of `epoch`. Forgotten, every epoch has the order of
  /// epoch 0.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }
  std::vector<std::int64_t> order() const { return order(epoch_); }

 private:
  std::int64_t rows_, ranks_, rank_;
  DistributedSamplerOptions options_;
  std::int64_t epoch_ = 0;
};

struct BatchSharding {
  std::int64_t per_device_batch = 8;  ///< with accelerate's split_batches: its batch size / ranks
  std::int64_t ranks = 1;
  bool even_batches =
      true;                ///< fill up from the epoch's first rows until every rank has as many full batches
  bool drop_last = false;  ///< leave out rounds in which not every rank gets a full batch
};

/// accelerate's BatchSamplerShard, by which the Hugging Face Trainer deals an epoch: rank r takes the batches
/// r, r + ranks, ... Returns places in the epoch's order. Without even_batches ranks may get unequal numbers
/// of batches, and a short one. REQUIRES: rows >= 0, per_device_batch >= 1, 0 <= rank < ranks.
std::vector<std::vector<std::int64_t>> shard_batches(std::int64_t rows, const BatchSharding& sharding,
                                                     std::int64_t rank);

}  // namespace ranktune::sampling
