#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "ranktune/models/sequence_classifier.h"

/// The machine that a job runs on.
namespace ranktune::train {

/// Sets the number of CPU threads of LibTorch; 0: as many as the cores that this process may use, or fewer
/// where OMP_NUM_THREADS says so. Returns the number.
std::int64_t use_threads(std::int64_t num_threads);

/// The device of that name; an empty one: the first GPU, or the CPU where there is none or `use_cpu` is
/// given.
at::Device choose_device(const std::string& name, bool use_cpu);

/// The model where it is to compute: on the CPU in `threads` threads, or on another device.
std::unique_ptr<models::SequenceClassifier> on_device(std::unique_ptr<models::SequenceClassifier> model,
                                                      at::Device device, std::int64_t threads);

/// Seconds since the operating system started this process; 0 where it does not say.
double seconds_since_process_start();

}  // namespace ranktune::train
