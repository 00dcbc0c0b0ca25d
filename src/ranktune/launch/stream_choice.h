#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ranktune/launch/launcher.h"

namespace ranktune::launch {

/// Streams of one worker: bit 1 is standard output, bit 2 standard error.
using StreamBits = int;

/// Reads a value of --redirects or --tee for `workers` workers: one number of 0..3 for all, or pairs
/// LOCAL_RANK:NUMBER with commas, where workers that are not named have 0. THROWS: UsageError that begins
/// with `flag`.
std::vector<StreamBits> read_stream_choice(const std::string& flag, const std::string& text,
                                           std::int64_t workers);

/// Where each worker's streams go. A --log_dir without --redirects and --tee means --tee 3: whoever names a
/// folder for logs wants logs. THROWS: UsageError.
std::vector<WorkerStreams> choose_streams(const LaunchOptions& options, std::int64_t workers);

}  // namespace ranktune::launch
