#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ranktune/dist/process_group.h"

/// What ranks tell each other. Everything here is COLLECTIVE and throws DistributedError.
namespace ranktune::dist {

/// Replaces `tensor` by its sum over all ranks. Same shape and type everywhere.
void all_reduce_sum(ProcessGroup& group, at::Tensor& tensor);

/// Replaces `tensor`, of a floating type, by its mean over all ranks.
void all_reduce_mean(ProcessGroup& group, at::Tensor& tensor);

/// Every rank's tensor, by rank. The first dimension may differ, also be 0; the others and the type are the
/// same. REQUIRES: at least one dimension.
std::vector<at::Tensor> all_gather(ProcessGroup& group, const at::Tensor& tensor);

/// Every rank's text, by rank.
std::vector<std::string> all_gather(ProcessGroup& group, const std::string& text);

/// The text that rank `source` gives; what the others give is ignored.
std::string broadcast_object(ProcessGroup& group, const std::string& text, std::int64_t source = 0);

/// Runs `work`, which may fail on some ranks only, and ends it on all of them alike: a rank whose work threw
/// throws the same again, the others a DistributedError that tells whose work failed and why. `operation`
/// names the work.
void agree(ProcessGroup& group, const std::string& operation, const std::function<void()>& work);

}  // namespace ranktune::dist
