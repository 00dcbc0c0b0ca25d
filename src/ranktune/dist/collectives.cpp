#include "ranktune/dist/collectives.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <exception>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "ranktune/core/error.h"

namespace ranktune::dist {
namespace {

at::Tensor to_bytes(const std::string& text) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes.mutable_data_ptr<std::uint8_t>()));
  return bytes;
}

std::string to_text(const at::Tensor& bytes) {
  const at::Tensor own = bytes.contiguous();
  const auto* data = reinterpret_cast<const char*>(own.const_data_ptr<std::uint8_t>());
  return {data, data + own.numel()};
}

/// Tensors of one shape from all ranks.
std::vector<at::Tensor> gather_equal(ProcessGroup& group, at::Tensor tensor) {
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (std::int64_t rank = 0; rank < group.world_size(); ++rank)
    outputs[0].push_back(at::empty(tensor.sizes(), tensor.options()));
  std::vector<at::Tensor> inputs{tensor.contiguous()};
  group.run("all-gather", [&] { group.c10d_group()->allgather(outputs, inputs)->wait(); });
  return outputs[0];
}

}  // namespace

void all_reduce_sum(ProcessGroup& group, at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  group.run("all-reduce", [&] { group.c10d_group()->allreduce(tensors)->wait(); });
}

void all_reduce_mean(ProcessGroup& group, at::Tensor& tensor) {
  all_reduce_sum(group, tensor);
  tensor.div_(static_cast<double>(group.world_size()));
}

std::vector<at::Tensor> all_gather(ProcessGroup& group, const at::Tensor& tensor) {
  at::Tensor size = at::empty({1}, at::kLong).fill_(tensor.size(0)).to(tensor.device());
  std::vector<std::int64_t> lengths;
  for (const at::Tensor& length : gather_equal(group, size)) lengths.push_back(length.item<std::int64_t>());
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[0] = *std::max_element(lengths.begin(), lengths.end());
  at::Tensor padded = at::zeros(shape, tensor.options());
  padded.narrow(0, 0, tensor.size(0)).copy_(tensor);
  std::vector<at::Tensor> gathered =
      shape[0] == 0 ? std::vector<at::Tensor>(lengths.size(), padded) : gather_equal(group, padded);
  for (std::size_t rank = 0; rank < gathered.size(); ++rank)
    gathered[rank] = gathered[rank].narrow(0, 0, lengths[rank]);
  return gathered;
}

std::vector<std::string> all_gather(ProcessGroup& group, const std::string& text) {
  std::vector<std::string> texts;
  for (const at::Tensor& bytes : all_gather(group, to_bytes(text))) texts.push_back(to_text(bytes));
  return texts;
}

std::string broadcast_object(ProcessGroup& group, const std::string& text, std::int64_t source) {
  const bool mine = group.rank() == source;
  at::Tensor size = at::empty({1}, at::kLong).fill_(mine ? static_cast<std::int64_t>(text.size()) : 0);
  const c10d::BroadcastOptions options{source, 0};
  const auto broadcast = [&](at::Tensor& tensor) {
    std::vector<at::Tensor> tensors{tensor};
    group.run("broadcast", [&] { group.c10d_group()->broadcast(tensors, options)->wait(); });
  };
  broadcast(size);
  at::Tensor bytes = mine ? to_bytes(text) : at::empty({size.item<std::int64_t>()}, at::kByte);
  if (bytes.numel() > 0) broadcast(bytes);
  return to_text(bytes);
}

void agree(ProcessGroup& group, const std::string& operation, const std::function<void()>& work) {
  std::exception_ptr own;
  std::string text;
  try {
    work();
  } catch (const std::exception& error) {
    own = std::current_exception();
    text = error.what()[0] == '\0' ? "unknown" : error.what();
  }
  const std::vector<std::string> texts = all_gather(group, text);
  if (own) std::rethrow_exception(own);
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    if (!texts[rank].empty())
      throw DistributedError(group.rank(), operation, 0,
                             "rank " + std::to_string(rank) + " says: " + texts[rank]);
}

}  // namespace ranktune::dist
