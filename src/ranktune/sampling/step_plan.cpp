#include "ranktune/sampling/step_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/sampling/divide.h"

namespace ranktune::sampling {
namespace {

std::int64_t micro_batches_per_epoch(std::int64_t rows, const BatchShape& shape) {
  if (shape.drop_last) return rows / shape.per_device_batch / shape.ranks;
  return divide_up(divide_up(rows, shape.per_device_batch), shape.ranks);
}

}  // namespace

std::vector<Update> deal_batches(std::int64_t rows, const BatchShape& shape, std::int64_t rank) {
  const std::int64_t b = shape.per_device_batch, ranks = shape.ranks;
  const std::int64_t micro_batches = micro_batches_per_epoch(rows, shape);
  const std::int64_t used = std::min(rows, micro_batches * ranks * b);
  std::vector<Update> updates;
  for (std::int64_t first = 0; first < micro_batches; first += shape.gradient_accumulation_steps) {
    const std::int64_t count = std::min(shape.gradient_accumulation_steps, micro_batches - first);
    const std::int64_t update_begin = first * ranks * b;
    Update update{std::min(count * ranks * b, used - update_begin), {}};
    for (std::int64_t micro = 0; micro < count; ++micro) {
      const std::int64_t first_row = (micro * ranks + rank) * b;
      const std::int64_t begin = std::min(update_begin + first_row, used);
      update.micro_batches.push_back({begin, std::min(begin + b, used), first_row});
    }
    updates.push_back(std::move(update));
  }
  return updates;
}

std::vector<Update> deal_shares(std::int64_t rows_of_rank, const BatchShape& shape, std::int64_t rank) {
  BatchShape own = shape;
  own.ranks = 1;
  std::vector<Update> updates = deal_batches(rows_of_rank, own, 0);
  for (Update& update : updates) {
    update.rows *= shape.ranks;
    for (std::size_t micro = 0; micro < update.micro_batches.size(); ++micro)
      update.micro_batches[micro].first_row =
          (static_cast<std::int64_t>(micro) * shape.ranks + rank) * shape.per_device_batch;
  }
  return updates;
}

StepPlan plan_steps(std::int64_t rows, const BatchShape& shape, const RunLength& length) {
  StepPlan plan;
  plan.micro_batches_per_epoch = micro_batches_per_epoch(rows, shape);
  if (plan.micro_batches_per_epoch == 0)
    throw UsageError("--dataloader_drop_last leaves nothing to train on: " + std::to_string(rows) +
                     " rows, but one step takes " + std::to_string(shape.per_device_batch * shape.ranks) +
                     "; use a smaller --per_device_train_batch_size or leave the flag out");
  plan.updates_per_epoch = divide_up(plan.micro_batches_per_epoch, shape.gradient_accumulation_steps);
  if (length.max_steps > 0) {
    plan.total_updates = length.max_steps;
    plan.epochs = divide_up(length.max_steps, plan.updates_per_epoch);
  } else {
    const double updates = length.num_train_epochs * static_cast<double>(plan.updates_per_epoch);
    plan.total_updates = static_cast<std::int64_t>(std::ceil(updates));
    plan.epochs = static_cast<std::int64_t>(std::ceil(length.num_train_epochs));
  }
  return plan;
}

}  // namespace ranktune::sampling
