#pragma once

#include <cstdint>
#include <vector>

/// The order in which an epoch visits its rows: a function of (seed, epoch), never of what was drawn before.
namespace ranktune::sampling {

/// Gives each epoch its order. THREAD SAFETY: order() may be called from several threads.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Each row number 0 .. size() - 1 once. REQUIRES: epoch >= 0.
  virtual std::vector<std::int64_t> order(std::int64_t epoch) const = 0;

  virtual std::int64_t size() const = 0;
};

/// 0, 1, ..., n - 1 in every epoch.
class SequentialSampler final : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t rows) : rows_(rows) {}
  std::vector<std::int64_t> order(std::int64_t epoch) const override;
  std::int64_t size() const override { return rows_; }

 private:
  std::int64_t rows_;
};

/// What the Hugging Face Trainer visits for the same seed: torch.randperm(n) after manual_seed(seed + epoch).
class RandomSampler final : public Sampler {
 public:
  RandomSampler(std::int64_t rows, std::uint64_t seed) : rows_(rows), seed_(seed) {}
  std::vector<std::int64_t> order(std::int64_t epoch) const override;
  std::int64_t size() const override { return rows_; }

 private:
  std::int64_t rows_;
  std::uint64_t seed_;
};

/// Rows of similar length side by side, by length_grouped_order with seed + epoch. The Trainer draws from a
/// generator that dropout and evaluation move on, so only the rule is the same here, not the order.
class LengthGroupedSampler final : public Sampler {
 public:
  /// `lengths`: tokens of each row. `global_batch`: rows of one update, over all ranks. REQUIRES:
  /// global_batch > 0.
  LengthGroupedSampler(std::vector<std::int64_t> lengths, std::int64_t global_batch, std::uint64_t seed);
  std::vector<std::int64_t> order(std::int64_t epoch) const override;
  std::int64_t size() const override { return static_cast<std::int64_t>(lengths_.size()); }

 private:
  std::vector<std::int64_t> lengths_;
  std::int64_t global_batch_;
  std::uint64_t seed_;
};

/// A random permutation, cut into runs of up to 50 batches, each run sorted by length, longest first; the
/// longest row of all comes first, so that a run that needs too much memory fails at once. REQUIRES: batch >
/// 0.
std::vector<std::int64_t> length_grouped_order(const std::vector<std::int64_t>& lengths, std::int64_t batch,
                                               std::uint64_t seed);

}  // namespace ranktune::sampling
