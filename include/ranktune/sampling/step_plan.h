#pragma once

#include <cstdint>
#include <vector>

/// How the rows of an epoch become updates: which rank takes which rows, and how many updates a run has.
namespace ranktune::sampling {

/// How the rows of one update are split. All numbers are at least 1; rank is 0 .. ranks - 1.
struct BatchShape {
  std::int64_t per_device_batch = 8;  ///< rows of a micro-batch on one rank
  std::int64_t ranks = 1;
  std::int64_t gradient_accumulation_steps = 1;  ///< micro-batches of one rank in an update
  bool drop_last = false;  ///< leave out the rows that do not fill a micro-batch on every rank
};

/// A rank's share of one forward pass: the rows order[begin] .. order[end - 1] of the epoch's order.
struct MicroBatch {
  std::int64_t begin = 0;
  std::int64_t end = 0;        ///< equal to begin when nothing is left for this rank
  std::int64_t first_row = 0;  ///< place of order[begin] among the rows of the update, whatever the split

  bool operator==(const MicroBatch&) const = default;
};

/// One update as one rank sees it. All ranks have the same number of micro-batches and the same `rows`.
struct Update {
  std::int64_t rows = 0;  ///< of all ranks and micro-batches together: the divisor of the loss
  std::vector<MicroBatch> micro_batches;

  bool operator==(const Update&) const = default;
};

/// Deals one epoch of `rows` rows. Row i of micro-batch m on rank r is row (m * ranks + r) * per_device_batch
/// + i of its update, so every split of the same product has the same rows in an update. No row is repeated;
/// an update never crosses the end of an epoch, so the last one may be short, and a rank may get an empty
/// micro-batch there.
std::vector<Update> deal_batches(std::int64_t rows, const BatchShape& shape, std::int64_t rank);

/// Deals one epoch in which every rank has `rows_of_rank` rows of its own, as under DistributedSampler: begin
/// and end are places among this rank's rows. With drop_last a rank's last, short micro-batch is left out.
std::vector<Update> deal_shares(std::int64_t rows_of_rank, const BatchShape& shape, std::int64_t rank);

/// How long a run is. Give either num_train_epochs or, greater than 0, max_steps, which wins.
struct RunLength {
  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;
};

/// The length of a run in the units of the loop.
struct StepPlan {
  std::int64_t micro_batches_per_epoch = 0;  ///< forward passes of each rank
  std::int64_t updates_per_epoch = 0;
  std::int64_t total_updates = 0;  ///< the loop stops here, also inside an epoch
  std::int64_t epochs = 0;         ///< epochs that are begun

  bool operator==(const StepPlan&) const = default;
};

/// The Trainer's rule, in its double arithmetic. REQUIRES: rows >= 1, num_train_epochs finite and >= 0.
/// THROWS: UsageError when drop_last leaves no batch at all.
StepPlan plan_steps(std::int64_t rows, const BatchShape& shape, const RunLength& length);

}  // namespace ranktune::sampling
