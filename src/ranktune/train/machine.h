#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ranktune/models/sequence_classifier.h"
#include "ranktune/train/training_arguments.h"

/// The machine that a job runs on.
namespace ranktune::train {

/// Sets the number of CPU threads of LibTorch; 0: as many as the cores that this process may use, or fewer
/// where OMP_NUM_THREADS says so. Returns the number.
std::int64_t use_threads(std::int64_t num_threads);

/// Loads a shared library that registers a back end of LibTorch for that type of device, as XLA's does.
/// THROWS: UsageError where it cannot be loaded or registers none.
void load_back_end(const std::string& library, at::DeviceType type);

/// The device of that name; an empty one: the first GPU, or the CPU where there is none or `use_cpu` is
/// given.
at::Device choose_device(const std::string& name, bool use_cpu);

/// The devices that one process computes on: those of DataParallel, or the chosen one, whose back end is
/// loaded where it comes from a library. THROWS: as load_back_end.
std::vector<at::Device> choose_devices(const TrainingArguments& training);

/// The model where it is to compute: on the CPU in `threads` threads, on another device, or on several.
std::unique_ptr<models::SequenceClassifier> on_devices(std::unique_ptr<models::SequenceClassifier> model,
                                                       const std::vector<at::Device>& devices,
                                                       std::int64_t threads);

/// Seconds since the operating system started this process; 0 where it does not say.
double seconds_since_process_start();

}  // namespace ranktune::train
