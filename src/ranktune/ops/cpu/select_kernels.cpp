#include <string_view>

#include "ranktune/ops/cpu/kernels.h"

namespace ranktune::ops::cpu {

std::int64_t attention_scratch(std::int64_t longest, std::int64_t head_dim) {
  const std::int64_t width = (longest + 15) / 16 * 16;
  return 2 * head_dim * width + 2 * kQueryBlock * width;
}

const Kernels& select_kernels([[maybe_unused]] const char* limit) {
#ifdef __x86_64__
  const std::string_view upto(limit);
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (upto == "avx512" && has_avx512 && has_avx2) return avx512::kKernels;
  if (upto != "generic" && has_avx2) return avx2::kKernels;
#endif
  return generic::kKernels;
}

}  // namespace ranktune::ops::cpu
