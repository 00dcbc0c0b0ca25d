#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// The machine that a job runs on.
namespace ranktune::train {

/// Sets the number of CPU threads of LibTorch; 0: as many as the cores that this process may use, or fewer
/// where OMP_NUM_THREADS says so. Returns the number.
std::int64_t use_threads(std::int64_t num_threads);

/// The first GPU, or the CPU where there is none or `use_cpu` is given.
at::Device choose_device(bool use_cpu);

/// Seconds since the operating system started this process; 0 where it does not say.
double seconds_since_process_start();

}  // namespace ranktune::train
