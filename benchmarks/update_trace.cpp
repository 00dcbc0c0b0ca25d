// Where the time of an update goes, and what the exchange of gradients hides behind:
//
//   export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
//   update_trace DONE COUNT TRACE FLAG...
//   ranktune launch --nproc-per-node 2 update_trace DONE COUNT TRACE FLAG...
//
// Trains as `ranktune train FLAG...` does, which sets that variable itself, under LibTorch's profiler for
// COUNT updates once DONE are done. Prints the parts of an update of rank 0, and writes TRACE.rankN.json,
// which chrome://tracing and Perfetto open.
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/place.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/dist/process_group.h"
#include "ranktune/launch/system_environment.h"
#include "ranktune/train/text_classification.h"

namespace {

namespace profiler = torch::autograd::profiler;
namespace launch = ranktune::launch;

struct Span {
  std::uint64_t begin = 0, end = 0;  ///< nanoseconds
};

double length(const Span& span) {
  return span.end > span.begin ? static_cast<double>(span.end - span.begin) : 0;
}

Span overlap(const Span& a, const Span& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

double sum(const std::vector<Span>& spans) {
  double all = 0;
  for (const Span& span : spans) all += length(span);
  return all;
}

/// What is in any of `spans`, without counting twice.
std::vector<Span> merged(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> result;
  for (const Span& span : spans)
    if (!result.empty() && span.begin <= result.back().end)
      result.back().end = std::max(result.back().end, span.end);
    else
      result.push_back(span);
  return result;
}

double sum_of_overlaps(const std::vector<Span>& some, const std::vector<Span>& others) {
  double all = 0;
  for (const Span& one : some)
    for (const Span& other : others) all += length(overlap(one, other));
  return all;
}

std::vector<Span> spans_of(const profiler::ProfilerResult& result,
                           const std::function<bool(const std::string&)>& wanted) {
  std::vector<Span> spans;
  for (const profiler::KinetoEvent& event : result.events())
    if (wanted(event.name())) spans.push_back({event.startNs(), event.endNs()});
  std::ranges::sort(spans, {}, &Span::begin);
  return spans;
}

std::vector<Span> spans_named(const profiler::ProfilerResult& result, const std::string& name) {
  return spans_of(result, [&](const std::string& one) { return one == name; });
}

/// Those of `spans` that begin in one of `wholes`: gradients' exchanges, not the loss's.
std::vector<Span> within_any(const std::vector<Span>& spans, const std::vector<Span>& wholes) {
  std::vector<Span> found;
  for (const Span& span : spans)
    if (std::ranges::any_of(
            wholes, [&](const Span& whole) { return whole.begin <= span.begin && span.begin < whole.end; }))
      found.push_back(span);
  return found;
}

/// Of each backward pass the part in which gradients were still being computed.
std::vector<Span> computing(const std::vector<Span>& passes, const std::vector<Span>& functions) {
  std::vector<Span> parts;
  for (const Span& pass : passes) {
    Span part{pass.begin, pass.begin};
    for (const Span& function : functions)
      if (function.begin >= pass.begin && function.end <= pass.end)
        part.end = std::max(part.end, function.end);
    parts.push_back(part);
  }
  return parts;
}

/// Profiles the updates that it is told to, and notes how long they took.
class Recorder final : public ranktune::train::Observer {
 public:
  Recorder(std::int64_t done, std::int64_t count) : done_(done), count_(count) {}

  void progress(const ranktune::train::Progress& progress) override {
    if (progress.phase != ranktune::train::Progress::Phase::train) return;
    if (progress.done == done_ + count_) stop();
    if (progress.done == done_) start();
  }
  const profiler::ProfilerResult* result() const { return result_.get(); }
  double nanoseconds() const { return nanoseconds_; }
  void save(const std::string& path) { result_->save(path); }

 private:
  using Clock = std::chrono::steady_clock;

  void start() {
    const std::set<torch::profiler::impl::ActivityType> activities{torch::profiler::impl::ActivityType::CPU};
    const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities);
    started_ = Clock::now();
  }
  void stop() {
    nanoseconds_ = std::chrono::duration<double, std::nano>(Clock::now() - started_).count();
    result_ = profiler::disableProfiler();
  }

  std::int64_t done_, count_;
  Clock::time_point started_;
  double nanoseconds_ = 0;
  std::unique_ptr<profiler::ProfilerResult> result_;
};

void print_row(const char* what, double nanoseconds, double updates, double all) {
  std::printf("%-44s %8.2f ms %5.1f %%\n", what, nanoseconds / updates / 1e6, 100 * nanoseconds / all);
}

/// The exchanges of one backward pass, against the time in which it still computed.
void print_timeline(const Span& pass, const Span& computed, const std::vector<Span>& exchanges) {
  std::printf("\nthe last of these backward passes: computes for %.2f ms, ends after %.2f ms\n",
              length(computed) / 1e6, length(pass) / 1e6);
  for (const Span& exchange : exchanges)
    if (length(overlap(exchange, pass)) > 0)
      std::printf(
          "  all-reduce of a bucket from %7.2f to %7.2f ms, %3.0f %% of it while gradients are computed\n",
          (static_cast<double>(exchange.begin) - static_cast<double>(pass.begin)) / 1e6,
          (static_cast<double>(exchange.end) - static_cast<double>(pass.begin)) / 1e6,
          100 * length(overlap(exchange, computed)) / length(exchange));
}

void print_parts(const profiler::ProfilerResult& result, double nanoseconds, double updates) {
  const auto backward = spans_named(result, "ranktune::backward");
  const auto computed = computing(backward, spans_of(result, [](const std::string& name) {
                                    return name.starts_with("autograd::engine::evaluate_function");
                                  }));
  const auto exchanges =
      within_any(spans_of(result,
                          [](const std::string& name) {
                            return name.starts_with("gloo:") && name.find("all_reduce") != std::string::npos;
                          }),
                 backward);
  const double forward = sum(spans_named(result, "ranktune::forward"));
  const double stepping = sum(spans_named(result, "ranktune::optimizer"));
  const double summing = sum(spans_named(result, "ranktune::sum_over_ranks"));
  const double rest = nanoseconds - forward - sum(backward) - stepping - summing;
  const auto row = [&](const char* what, double part) { print_row(what, part, updates, nanoseconds); };
  row("one update", nanoseconds);
  row("  forward pass", forward);
  row("  backward pass, computing", sum(computed));
  row("  backward pass, waiting for the other ranks", sum(backward) - sum(computed));
  row("  loss of all ranks", summing);
  row("  clipping and optimizer", stepping);
  row("  the rest (batches, progress)", rest);
  if (exchanges.empty()) return;
  const auto busy = merged(exchanges);
  row("all-reduce, beside all that", sum(busy));
  row("  of it while gradients are computed", sum_of_overlaps(busy, computed));
  print_timeline(backward.back(), computed.back(), exchanges);
}

std::int64_t count_of(const std::string& word) {
  const auto count = ranktune::cli::parse_integer(word);
  if (!count || *count < 1)
    throw ranktune::UsageError(ranktune::cli::in_quotes(word) + " is no number of updates, 1 or more");
  return *count;
}

int run(const std::vector<std::string>& words) {
  namespace cli = ranktune::cli;
  if (words.size() < 4) throw ranktune::UsageError("usage: update_trace DONE COUNT TRACE FLAG...");
  const std::int64_t count = count_of(words[1]);
  Recorder recorder(count_of(words[0]), count);
  cli::TrainCommand command = cli::parse_train(std::span(words).subspan(3));
  ranktune::train::TrainingArguments& training = command.arguments.training;
  const launch::Variables variables = launch::environment_variables();
  const cli::Place place = cli::find_own_place(command.place, training.use_cpu, false, variables);
  if (!place.ranks_to_start.empty())
    throw ranktune::UsageError("start the ranks with ranktune launch: update_trace is one of them");
  training.device = place.plan.device;
  if (training.num_threads == 0)
    training.num_threads = cli::threads_of_rank(place.env, variables, at::get_num_threads());
  const auto group = place.env.distributed()
                         ? ranktune::dist::init_process_group(place.env, {.backend = place.plan.backend})
                         : nullptr;
  ranktune::core::NullLogger silent;
  ranktune::train::run_text_classification(command.arguments, silent, recorder, group.get());
  if (recorder.result() == nullptr)
    throw ranktune::UsageError("the training ended before the updates to look at");
  recorder.save(words[2] + ".rank" + std::to_string(place.env.rank) + ".json");
  if (place.env.is_main())
    print_parts(*recorder.result(), recorder.nanoseconds(), static_cast<double>(count));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ranktune::cli::keep_freed_memory();
  c10::initLogging();
  try {
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "update_trace: " << error.what() << '\n';
    return 2;
  }
}
