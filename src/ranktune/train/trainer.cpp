#include "ranktune/train/trainer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/core/json.h"
#include "ranktune/dist/collectives.h"
#include "ranktune/train/collate.h"
#include "ranktune/train/evaluate.h"
#include "ranktune/train/loss.h"
#include "ranktune/train/ranks.h"
#include "ranktune/train/schedule.h"
#include "ranktune/train/whole_folder.h"

namespace ranktune::train {
namespace {

constexpr std::int64_t kUnusedInterval = 500;  ///< what trainer_state.json says where there is none

sampling::BatchShape shape_of(const TrainingArguments& arguments, const dist::ProcessGroup* group) {
  return {.per_device_batch = rows_per_pass(arguments.per_device_train_batch_size, arguments),
          .ranks = ranks_of(group),
          .gradient_accumulation_steps = arguments.gradient_accumulation_steps,
          .drop_last = arguments.dataloader_drop_last};
}

std::uint64_t seed_of_order(const TrainingArguments& arguments) {
  return static_cast<std::uint64_t>(arguments.data_seed.value_or(arguments.seed));
}

std::unique_ptr<const sampling::Sampler> sampler_of(const Dataset& train, const TrainingArguments& arguments,
                                                    const sampling::BatchShape& shape) {
  if (!arguments.group_by_length)
    return std::make_unique<sampling::RandomSampler>(train.rows(), seed_of_order(arguments));
  const std::int64_t rows_of_update =
      shape.per_device_batch * shape.gradient_accumulation_steps * shape.ranks;
  return std::make_unique<sampling::LengthGroupedSampler>(train.tokens.lengths(), rows_of_update,
                                                          seed_of_order(arguments));
}

std::optional<sampling::DistributedSampler> distributed_sampler_of(std::int64_t rows,
                                                                   const TrainingArguments& arguments,
                                                                   const dist::ProcessGroup* group) {
  if (arguments.sampler != SamplerType::distributed) return std::nullopt;
  return sampling::DistributedSampler(
      rows, ranks_of(group), rank_of(group),
      {.seed = seed_of_order(arguments), .drop_last = arguments.dataloader_drop_last});
}

std::unique_ptr<dist::GradientReducer> reducer_of(const TrainerParts& parts,
                                                  const TrainingArguments& arguments) {
  if (ranks_of(parts.group) == 1) return nullptr;
  return std::make_unique<dist::GradientReducer>(
      *parts.group,
      dist::SharedTensors{.parameters = parts.model.named_parameters(),
                          .sparse_gradients = parts.model.sparse_gradients()},
      dist::ReducerOptions{.find_unused_parameters = arguments.ddp_find_unused_parameters,
                           .static_graph = arguments.ddp_static_graph,
                           .bucket_cap_mb = arguments.ddp_bucket_cap_mb});
}

Schedule schedule_of(const TrainingArguments& arguments, std::int64_t total_updates) {
  return {
      .type = arguments.lr_scheduler_type,
      .kwargs = arguments.lr_scheduler_kwargs,
      .learning_rate = arguments.learning_rate,
      .warmup_updates = count_warmup_updates(arguments.warmup_steps, arguments.warmup_ratio, total_updates),
      .total_updates = total_updates};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::int64_t tokens_of(const data::TokenizedSplit& tokens, std::span<const std::int64_t> rows) {
  std::int64_t sum = 0;
  for (const std::int64_t row : rows) sum += std::ssize(tokens.row_ids(row));
  return sum;
}

}  // namespace

Trainer::Trainer(TrainerParts parts, const TrainingArguments& arguments)
    : parts_(std::move(parts)),
      arguments_(arguments),
      shape_(shape_of(arguments, parts_.group)),
      sampler_(sampler_of(parts_.train, arguments, shape_)),
      distributed_(distributed_sampler_of(parts_.train.rows(), arguments, parts_.group)),
      plan_(sampling::plan_steps(
          distributed_ ? distributed_->size() * shape_.ranks : parts_.train.rows(), shape_,
          {.num_train_epochs = arguments.num_train_epochs, .max_steps = arguments.max_steps})),
      optimizer_(parts_.model.named_parameters(), {.beta1 = arguments.adam_beta1,
                                                   .beta2 = arguments.adam_beta2,
                                                   .epsilon = arguments.adam_epsilon,
                                                   .weight_decay = arguments.weight_decay}),
      reducer_(reducer_of(parts_, arguments)),
      logs_(arguments.logging_strategy, arguments.logging_steps, plan_.total_updates, false),
      evaluations_(arguments.eval_strategy, arguments.eval_steps.value_or(arguments.logging_steps),
                   plan_.total_updates, true),
      saves_(arguments.save_strategy, arguments.save_steps, plan_.total_updates, true),
      schedule_(schedule_of(arguments, plan_.total_updates)),
      flos_per_token_(training_flos_per_token(parts_.model.named_parameters())) {
  if (schedule_.type == SchedulerType::reduce_lr_on_plateau)
    plateau_.emplace(schedule_.kwargs, schedule_.learning_rate);
}

TrainOutcome Trainer::run() {
  started_ = Clock::now();
  for (std::int64_t epoch = 0; epoch < plan_.epochs; ++epoch) run_epoch(epoch);
  return finish();
}

void Trainer::run_epoch(std::int64_t epoch) {
  std::int64_t micro_batches_done = 0;
  for (const sampling::Update& update : deal(epoch)) {
    if (updates_done_ == plan_.total_updates) break;
    micro_batches_done += std::ssize(update.micro_batches);
    epoch_ = epoch_position(epoch, micro_batches_done, plan_.micro_batches_per_epoch);
    run_update(update);
  }
  after_epoch();
}

std::vector<sampling::Update> Trainer::deal(std::int64_t epoch) {
  const std::int64_t rank = rank_of(parts_.group);
  if (distributed_) {
    order_ = distributed_->order(epoch);
    return sampling::deal_shares(distributed_->size(), shape_, rank);
  }
  order_ = sampler_->order(epoch);
  return sampling::deal_batches(sampler_->size(), shape_, rank);
}

void Trainer::run_update(const sampling::Update& update) {
  const Clock::time_point start = Clock::now();
  double loss = 0;
  std::int64_t tokens = 0;
  for (const sampling::MicroBatch& part : update.micro_batches) {
    // Gradients travel once per update, with its last micro-batch.
    if (reducer_) reducer_->set_synchronised(&part == &update.micro_batches.back());
    loss += backward(part, update.rows);
    tokens += tokens_of(parts_.train.tokens, rows_of(part));
  }
  loss = sum_over_ranks(loss, update.rows, tokens);
  step(loss);
  update_seconds_ += seconds_since(start);
  after_update(loss);
}

/// Applies the gradients of an update, whose mean loss is `loss`.
void Trainer::step(double loss) {
  RECORD_USER_SCOPE("ranktune::optimizer");
  grad_norm_ = clip_gradients(parts_.model.named_parameters(), arguments_.max_grad_norm);
  check_finite(loss);
  learning_rate_ = next_learning_rate();
  optimizer_.step(learning_rate_);
  optimizer_.zero_grad();
  ++updates_done_;
}

double Trainer::next_learning_rate() const {
  if (plateau_) return plateau_->learning_rate();
  return schedule_.learning_rate * learning_rate_multiplier(schedule_, updates_done_);
}

/// Adds the gradients of one micro-batch and returns its share of the update's mean loss.
double Trainer::backward(const sampling::MicroBatch& part, std::int64_t rows_of_update) {
  const std::span<const std::int64_t> rows = rows_of(part);
  const at::Device device = parts_.model.named_parameters().front().second.device();
  const models::TokenBatch batch = collate(parts_.train.tokens, rows, part.first_row, device);
  const at::Tensor summed = summed_loss(forward(batch), collate_labels(parts_.train, rows, device),
                                        arguments_.label_smoothing_factor);
  // Ranks average their gradients: with their number as a factor, the average is the mean over all rows.
  run_backward(summed * (static_cast<double>(shape_.ranks) / static_cast<double>(rows_of_update)));
  return summed.item<double>() / static_cast<double>(rows_of_update);
}

std::span<const std::int64_t> Trainer::rows_of(const sampling::MicroBatch& part) const {
  return std::span<const std::int64_t>(order_).subspan(static_cast<std::size_t>(part.begin),
                                                       static_cast<std::size_t>(part.end - part.begin));
}

at::Tensor Trainer::forward(const models::TokenBatch& batch) {
  RECORD_USER_SCOPE("ranktune::forward");
  const models::ForwardContext context{.training = true,
                                       .seed = static_cast<std::uint64_t>(arguments_.seed),
                                       .step = static_cast<std::uint64_t>(updates_done_)};
  if (!reducer_) return parts_.model.forward(batch, context);
  reducer_->before_forward();
  return reducer_->prepare({parts_.model.forward(batch, context)}).front();
}

void Trainer::run_backward(const at::Tensor& loss) {
  RECORD_USER_SCOPE("ranktune::backward");
  reducer_ ? reducer_->backward(loss) : loss.backward();
}

/// From this rank's share of an update to all ranks': its loss, and the counts of what has been seen.
double Trainer::sum_over_ranks(double loss, std::int64_t rows, std::int64_t tokens) {
  RECORD_USER_SCOPE("ranktune::sum_over_ranks");
  rows_seen_ += rows;
  if (reducer_) {
    at::Tensor sums = at::tensor({loss, static_cast<double>(tokens)}, at::kDouble);
    dist::all_reduce_sum(*parts_.group, sums);
    loss = sums[0].item<double>();
    tokens = static_cast<std::int64_t>(sums[1].item<double>());
  }
  tokens_seen_ += tokens;
  return loss;
}

void Trainer::check_finite(double loss) {
  if (std::isfinite(loss) && std::isfinite(grad_norm_)) return;
  const std::string what = std::isfinite(loss) ? "gradient norm is " + core::python_float(grad_norm_)
                                               : "loss is " + core::python_float(loss);
  const std::string message = "update " + std::to_string(updates_done_ + 1) + ": the " + what;
  if (arguments_.on_nonfinite == OnNonfinite::stop)
    throw TrainingError(message +
                        ": lower --learning_rate or --max_grad_norm, or go on with --on_nonfinite report");
  if (nonfinite_updates_++ == 0) parts_.logger.warning(message + "; further ones are only counted");
}

void Trainer::after_update(double loss) {
  losses_.add(loss);
  show_progress(loss);
  if (logs_.due_after_update(updates_done_) || (arguments_.logging_first_step && updates_done_ == 1)) log();
  if (evaluations_.due_after_update(updates_done_)) evaluate();
  if (saves_.due_after_update(updates_done_)) save();
}

void Trainer::after_epoch() {
  if (logs_.due_after_epoch()) log();
  if (evaluations_.due_after_epoch()) evaluate();
  if (saves_.due_after_epoch()) save();
}

void Trainer::log() {
  if (losses_.updates() == 0) return;
  history_.push_back(update_entry({.loss = losses_.take_mean(),
                                   .grad_norm = grad_norm_,
                                   .learning_rate = learning_rate_,
                                   .epoch = epoch_,
                                   .step = updates_done_}));
}

void Trainer::evaluate() {
  const Predictions predictions = predict(parts_.model, *parts_.validation, evaluation_options(arguments_),
                                          parts_.observer, parts_.group);
  Evaluation evaluation = measure(predictions, *parts_.validation, parts_.model.config().id2label);
  if (plateau_) plateau_->step(predictions.loss);
  history_.push_back(summary_entry(std::move(evaluation.figures), epoch_, updates_done_));
}

void Trainer::save() {
  if (parts_.group != nullptr && parts_.group->rank() != 0) return;
  const std::string name = "checkpoint-" + std::to_string(updates_done_);
  write_whole_folder(arguments_.output_dir / name, [&](const std::filesystem::path& folder) {
    parts_.save_model(folder);
    core::write_file_atomically(folder / "trainer_state.json", to_json(state(/*saving=*/true)));
  });
}

TrainOutcome Trainer::finish() {
  parts_.observer.phase_finished(Progress::Phase::train);
  if (nonfinite_updates_ > 0)
    parts_.logger.warning(std::to_string(nonfinite_updates_) + " of " + std::to_string(updates_done_) +
                          " updates had a loss or a gradient that is not finite: do not trust this model");
  Figures figures = speed_figures("train", {.seconds = seconds_since(started_),
                                            .samples = static_cast<double>(rows_seen_),
                                            .steps = updates_done_});
  figures.emplace_back("total_flos", flos_per_token_ * static_cast<double>(tokens_seen_));
  figures.emplace_back("train_loss", losses_.total_mean());
  history_.push_back(summary_entry(figures, epoch_, updates_done_));
  figures.emplace_back("epoch", epoch_);
  return {std::move(figures), state(/*saving=*/false)};
}

TrainerState Trainer::state(bool saving) const {
  const auto interval = [](const Rhythm& rhythm) {
    return rhythm.interval() > 0 ? rhythm.interval() : kUnusedInterval;
  };
  return {.epoch = epoch_,
          .global_step = updates_done_,
          .max_steps = plan_.total_updates,
          .num_train_epochs = plan_.epochs,
          .train_batch_size = shape_.per_device_batch,
          .logging_steps = interval(logs_),
          .eval_steps = interval(evaluations_),
          .save_steps = interval(saves_),
          .total_flos = flos_per_token_ * static_cast<double>(tokens_seen_),
          .should_save = saving,
          .should_training_stop = updates_done_ == plan_.total_updates,
          .log_history = history_};
}

void Trainer::show_progress(double loss) const {
  const std::int64_t left = plan_.total_updates - updates_done_;
  parts_.observer.progress(
      {.phase = Progress::Phase::train,
       .done = updates_done_,
       .total = plan_.total_updates,
       .loss = loss,
       .learning_rate = learning_rate_,
       .rows_per_second = static_cast<double>(rows_seen_) / update_seconds_,
       .tokens_per_second = static_cast<double>(tokens_seen_) / update_seconds_,
       .seconds_left = update_seconds_ / static_cast<double>(updates_done_) * static_cast<double>(left)});
}

double training_flos_per_token(const models::NamedTensors& parameters) {
  double count = 0;
  for (const auto& [name, parameter] : parameters)
    if (!name.ends_with("embeddings.weight")) count += static_cast<double>(parameter.numel());
  return 6 * count;
}

}  // namespace ranktune::train
