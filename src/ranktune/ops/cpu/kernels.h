#pragma once

#include <cstdint>

/// The fused operations on raw pointers, without LibTorch. Each works on a range of its items, so that the
/// caller decides about threads; no two items write the same place. All matrices are row-major float32.
/// kernels.cpp is compiled once per instruction set; select_kernels picks what this processor can run.
namespace ranktune::ops::cpu {

/// Which dropout mask: a function of these numbers and of an element's place (docs/architecture.md, decision
/// 3).
struct Mask {
  std::uint32_t key0 = 0, key1 = 0;  ///< seed and site
  std::uint32_t step = 0;            ///< number of the update
  std::uint32_t threshold = 0;  ///< an element is dropped when its 32 random bits are below this; 0: none is
  float scale = 1.0F;           ///< what kept elements are multiplied by, 1 / (1 - p)
};

/// Sequences lie end to end: sequence s is tokens offsets[s] .. offsets[s + 1] - 1 and has place rows[s] in
/// its update.
struct Sequences {
  const std::int64_t* offsets;
  const std::int64_t* rows;
  std::int64_t count;
};

/// y = mask * x, both [tokens, channels]. Items: tokens.
struct DropoutArgs {
  const float* x;
  float* y;
  std::int64_t channels;
  Sequences sequences;
  Mask mask;
};

/// sum = residual + mask * x; y = (sum - mean) * rstd * gamma + beta, per token. Items: tokens.
struct AddNormArgs {
  const float *x, *residual, *gamma, *beta;
  float *y, *sum;      ///< [tokens, channels]
  float *mean, *rstd;  ///< [tokens]
  float epsilon;
  std::int64_t channels;
  Sequences sequences;
  Mask mask;
};

/// Gradients of AddNormArgs. Items: blocks of kNormBlock tokens; each block sums its own row of `partial`,
/// and the rows are added in order afterwards, so that the result does not depend on the number of threads.
struct AddNormBackwardArgs {
  const float *grad_y, *sum, *mean, *rstd, *gamma;
  float *grad_x, *grad_residual;  ///< [tokens, channels]
  float* partial;                 ///< [blocks, 2, channels]: gradients of gamma and beta
  std::int64_t channels, tokens;
  Sequences sequences;
  Mask mask;
};
inline constexpr std::int64_t kNormBlock = 64;

/// Attention of every sequence over itself. Queries are all tokens, or with first_token_only the first token
/// of each sequence ([sequences, heads * head_dim]). Items: (head, sequence) pairs, head * sequences.count +
/// sequence.
struct AttentionArgs {
  const float *q, *k, *v;
  float* out;      ///< as q
  float* log_sum;  ///< [queries, heads]: logarithm of each softmax's denominator, for the backward pass
  std::int64_t heads, head_dim;
  bool first_token_only;
  Sequences sequences;
  Mask mask;  ///< on the attention probabilities; element = (head, query in sequence, key in sequence)
};
struct AttentionBackwardArgs {
  AttentionArgs forward;
  const float* grad_out;
  float *grad_q, *grad_k, *grad_v;
};

/// Queries of a head whose scores are in work at once: a multiple of the 6 rows of a tile. Scratch memory is
/// for these.
inline constexpr std::int64_t kQueryBlock = 48;

struct Kernels {
  const char* name;
  void (*dropout)(const DropoutArgs&, std::int64_t begin, std::int64_t end);
  void (*add_norm)(const AddNormArgs&, std::int64_t begin, std::int64_t end);
  void (*add_norm_backward)(const AddNormBackwardArgs&, std::int64_t begin, std::int64_t end);
  /// `scratch` holds attention_scratch(longest, head_dim) floats.
  void (*attention)(const AttentionArgs&, float* scratch, std::int64_t begin, std::int64_t end);
  void (*attention_backward)(const AttentionBackwardArgs&, float* scratch, std::int64_t begin,
                             std::int64_t end);
};

/// Floats of scratch memory that attention or its backward pass needs for sequences of up to `longest`
/// tokens.
std::int64_t attention_scratch(std::int64_t longest, std::int64_t head_dim);

/// The fastest kernels for this processor; `limit` ("generic", "avx2", "avx512") holds them back, for tests.
const Kernels& select_kernels(const char* limit = "avx512");

namespace generic {
extern const Kernels kKernels;
}
#ifdef __x86_64__
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
#endif

}  // namespace ranktune::ops::cpu
