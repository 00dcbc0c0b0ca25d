#include "ranktune/ops/cpu/kernels.h"

#include "ranktune/ops/cpu/simd.h"

namespace ranktune::ops::cpu::RANKTUNE_ISA {
namespace {

/// Walks tokens in order and knows the sequence that each lies in.
class TokenCursor {
 public:
  TokenCursor(const Sequences& sequences, std::int64_t token) : sequences_(sequences) {
    std::int64_t high = sequences.count;
    while (high - sequence_ > 1) {
      const std::int64_t middle = (sequence_ + high) / 2;
      (sequences.offsets[middle] <= token ? sequence_ : high) = middle;
    }
    token_ = token;
  }
  std::uint32_t row() const { return static_cast<std::uint32_t>(sequences_.rows[sequence_]); }
  std::uint32_t token_in_row() const {
    return static_cast<std::uint32_t>(token_ - sequences_.offsets[sequence_]);
  }
  void next() {
    ++token_;
    while (sequence_ + 1 < sequences_.count && token_ >= sequences_.offsets[sequence_ + 1]) ++sequence_;
  }

 private:
  Sequences sequences_;
  std::int64_t sequence_ = 0;
  std::int64_t token_ = 0;
};

inline std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

/// y = mask * x over one row of elements.
inline void apply_mask(const Mask& mask, std::uint32_t token, std::uint32_t row, const float* x, float* y,
                       std::int64_t count) {
  float factors[kMaskBlock];
  for (std::int64_t start = 0; start < count; start += kMaskBlock) {
    mask_block(mask, static_cast<std::uint32_t>(start / kMaskBlock), token, row, factors);
    const std::int64_t length = smaller(kMaskBlock, count - start);
    for (std::int64_t i = 0; i < length; ++i) y[start + i] = x[start + i] * factors[i];
  }
}

void dropout(const DropoutArgs& args, std::int64_t begin, std::int64_t end) {
  TokenCursor cursor(args.sequences, begin);
  for (std::int64_t token = begin; token < end; ++token, cursor.next())
    apply_mask(args.mask, cursor.token_in_row(), cursor.row(), args.x + token * args.channels,
               args.y + token * args.channels, args.channels);
}

/// Sums over a row: whole vectors first, then what is left.
template <typename Value>
inline float row_sum(std::int64_t count, Value value_at) {
  Floats total{};
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) total += value_at(i, Floats{});
  float result = sum(total);
  for (; i < count; ++i) result += value_at(i, 0.0F);
  return result;
}
inline Floats read(const float* from, Floats) {
  return load(from);
}
inline float read(const float* from, float) {
  return *from;
}

void add_norm(const AddNormArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t channels = args.channels;
  TokenCursor cursor(args.sequences, begin);
  for (std::int64_t token = begin; token < end; ++token, cursor.next()) {
    const std::int64_t at = token * channels;
    const float *x = args.x + at, *residual = args.residual + at;
    float *h = args.sum + at, *y = args.y + at;
    if (args.mask.threshold != 0) {
      apply_mask(args.mask, cursor.token_in_row(), cursor.row(), x, h, channels);
      x = h;
    }
    for (std::int64_t i = 0; i < channels; ++i) h[i] = residual[i] + x[i];
    const float size = static_cast<float>(channels);
    const float mean = row_sum(channels, [h](std::int64_t i, auto kind) { return read(h + i, kind); }) / size;
    const float variance = row_sum(channels,
                                   [h, mean](std::int64_t i, auto kind) {
                                     const auto centred = read(h + i, kind) - mean;
                                     return centred * centred;
                                   }) /
                           size;
    const float rstd = 1.0F / __builtin_sqrtf(variance + args.epsilon);
    for (std::int64_t i = 0; i < channels; ++i) y[i] = (h[i] - mean) * rstd * args.gamma[i] + args.beta[i];
    args.mean[token] = mean;
    args.rstd[token] = rstd;
  }
}

void add_norm_backward_token(const AddNormBackwardArgs& args, std::int64_t token, float* grad_gamma,
                             float* grad_beta) {
  const std::int64_t channels = args.channels, at = token * channels;
  const float *grad_y = args.grad_y + at, *h = args.sum + at, *gamma = args.gamma;
  const float mean = args.mean[token], rstd = args.rstd[token], size = static_cast<float>(channels);
  const float mean_gradient =
      row_sum(channels,
              [=](std::int64_t i, auto kind) { return read(grad_y + i, kind) * read(gamma + i, kind); }) /
      size;
  const float mean_product =
      row_sum(channels,
              [=](std::int64_t i, auto kind) {
                return read(grad_y + i, kind) * read(gamma + i, kind) * ((read(h + i, kind) - mean) * rstd);
              }) /
      size;
  float* grad_residual = args.grad_residual + at;
  for (std::int64_t i = 0; i < channels; ++i) {
    const float normal = (h[i] - mean) * rstd;
    grad_residual[i] = rstd * (grad_y[i] * gamma[i] - mean_gradient - normal * mean_product);
    grad_gamma[i] += grad_y[i] * normal;
    grad_beta[i] += grad_y[i];
  }
}

void add_norm_backward(const AddNormBackwardArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t channels = args.channels;
  for (std::int64_t block = begin; block < end; ++block) {
    float* grad_gamma = args.partial + block * 2 * channels;
    float* grad_beta = grad_gamma + channels;
    for (std::int64_t i = 0; i < 2 * channels; ++i) grad_gamma[i] = 0;
    const std::int64_t first = block * kNormBlock, last = smaller(first + kNormBlock, args.tokens);
    TokenCursor cursor(args.sequences, first);
    for (std::int64_t token = first; token < last; ++token, cursor.next()) {
      add_norm_backward_token(args, token, grad_gamma, grad_beta);
      if (args.mask.threshold != 0)
        apply_mask(args.mask, cursor.token_in_row(), cursor.row(), args.grad_residual + token * channels,
                   args.grad_x + token * channels, channels);
    }
  }
}

/// One head of one sequence: where its queries, keys and values lie, and how many there are.
struct Head {
  std::int64_t index, keys, queries, stride, head_dim;
  std::int64_t query_offset, key_offset;  ///< into q-shaped and k-shaped matrices
  std::int64_t log_sum_offset;
  std::uint32_t row;
};

Head locate(const AttentionArgs& args, std::int64_t item) {
  const std::int64_t index = item / args.sequences.count, sequence = item % args.sequences.count;
  const std::int64_t first = args.sequences.offsets[sequence];
  const std::int64_t stride = args.heads * args.head_dim, column = index * args.head_dim;
  const std::int64_t first_query = args.first_token_only ? sequence : first;
  Head head{};
  head.index = index;
  head.keys = args.sequences.offsets[sequence + 1] - first;
  head.queries = args.first_token_only ? smaller(1, head.keys) : head.keys;
  head.stride = stride;
  head.head_dim = args.head_dim;
  head.query_offset = first_query * stride + column;
  head.key_offset = first * stride + column;
  head.log_sum_offset = first_query * args.heads + index;
  head.row = static_cast<std::uint32_t>(args.sequences.rows[sequence]);
  return head;
}

inline std::int64_t round_up(std::int64_t count) {
  return (count + 15) / 16 * 16;
}

/// to [head_dim, width] = transposed from [keys, head_dim]; columns from `keys` to `width` become 0.
void transpose(const float* from, const Head& head, std::int64_t width, float* to) {
  for (std::int64_t d = 0; d < head.head_dim; ++d) {
    float* row = to + d * width;
    for (std::int64_t j = 0; j < head.keys; ++j) row[j] = from[j * head.stride + d];
    for (std::int64_t j = head.keys; j < width; ++j) row[j] = 0;
  }
}

/// scores = softmax(scale * scores) over the keys of one query; returns log(sum(exp(scale * scores))).
/// Columns from `keys` to `width` are set to 0.
float softmax_row(float* scores, std::int64_t keys, std::int64_t width, float scale) {
  for (std::int64_t j = 0; j < keys; ++j) scores[j] *= scale;
  for (std::int64_t j = keys; j < width; ++j) scores[j] = -HUGE_VALF;
  Floats top = load(scores);
  for (std::int64_t j = kWidth; j < width; j += kWidth) {
    const Floats next = load(scores + j);
    top = next > top ? next : top;
  }
  const float peak = largest(top);
  Floats total{};
  for (std::int64_t j = 0; j < width; j += kWidth) {
    const Floats value = exponential(load(scores + j) - peak);
    store(scores + j, value);
    total += value;
  }
  const float denominator = sum(total), factor = 1.0F / denominator;
  for (std::int64_t j = 0; j < width; j += kWidth) store(scores + j, load(scores + j) * factor);
  return peak + __builtin_logf(denominator);
}

inline std::uint32_t mask_token(const Head& head, std::int64_t query) {
  return static_cast<std::uint32_t>(query) | static_cast<std::uint32_t>(head.index) << 16;
}

void attention_head(const AttentionArgs& args, float* scratch, std::int64_t item) {
  const Head head = locate(args, item);
  const std::int64_t width = round_up(head.keys), stride = head.stride, dim = head.head_dim;
  float* keys = scratch;
  float* scores = keys + dim * width;
  transpose(args.k + head.key_offset, head, width, keys);
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(dim));
  for (std::int64_t first = 0; first < head.queries; first += kQueryBlock) {
    const std::int64_t count = smaller(kQueryBlock, head.queries - first);
    const float* q = args.q + head.query_offset + first * stride;
    multiply(count, width, dim, {q, stride, 1}, keys, width, scores, width, false);
    for (std::int64_t i = 0; i < count; ++i) {
      float* row = scores + i * width;
      args.log_sum[head.log_sum_offset + (first + i) * args.heads] =
          softmax_row(row, head.keys, width, scale);
      if (args.mask.threshold != 0)
        apply_mask(args.mask, mask_token(head, first + i), head.row, row, row, head.keys);
    }
    multiply(count, dim, head.keys, {scores, width, 1}, args.v + head.key_offset, stride,
             args.out + head.query_offset + first * stride, stride, false);
  }
}

void attention(const AttentionArgs& args, float* scratch, std::int64_t begin, std::int64_t end) {
  for (std::int64_t item = begin; item < end; ++item) attention_head(args, scratch, item);
}

/// Row of query i: scores become mask * P (what multiplied the values), grad_scores the gradient of scale * q
/// k.
void softmax_backward_row(const Mask& mask, std::uint32_t token, std::uint32_t row, float log_sum,
                          float delta, float scale, std::int64_t keys, float* scores, float* grad_scores) {
  float factors[kMaskBlock];
  for (int i = 0; i < kMaskBlock; ++i) factors[i] = 1.0F;
  for (std::int64_t start = 0; start < keys; start += kMaskBlock) {
    if (mask.threshold != 0)
      mask_block(mask, static_cast<std::uint32_t>(start / kMaskBlock), token, row, factors);
    const std::int64_t length = smaller(kMaskBlock, round_up(keys) - start);
    for (std::int64_t i = 0; i < length; i += kWidth) {
      const Floats p = exponential(load(scores + start + i) * scale - log_sum), factor = load(factors + i);
      store(scores + start + i, p * factor);
      store(grad_scores + start + i, p * (load(grad_scores + start + i) * factor - delta) * scale);
    }
  }
}

void attention_backward_head(const AttentionBackwardArgs& args, float* scratch, std::int64_t item) {
  const AttentionArgs& forward = args.forward;
  const Head head = locate(forward, item);
  const std::int64_t width = round_up(head.keys), stride = head.stride, dim = head.head_dim;
  float* keys = scratch;
  float* values = keys + dim * width;
  float* scores = values + dim * width;
  float* grad_scores = scores + kQueryBlock * width;
  transpose(forward.k + head.key_offset, head, width, keys);
  transpose(forward.v + head.key_offset, head, width, values);
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(dim));
  for (std::int64_t first = 0; first < head.queries; first += kQueryBlock) {
    const std::int64_t count = smaller(kQueryBlock, head.queries - first);
    const std::int64_t at = head.query_offset + first * stride;
    const float *q = forward.q + at, *out = forward.out + at, *grad_out = args.grad_out + at;
    multiply(count, width, dim, {q, stride, 1}, keys, width, scores, width, false);
    multiply(count, width, dim, {grad_out, stride, 1}, values, width, grad_scores, width, false);
    for (std::int64_t i = 0; i < count; ++i) {
      float delta = 0;
      for (std::int64_t d = 0; d < dim; ++d) delta += out[i * stride + d] * grad_out[i * stride + d];
      softmax_backward_row(forward.mask, mask_token(head, first + i), head.row,
                           forward.log_sum[head.log_sum_offset + (first + i) * forward.heads], delta, scale,
                           head.keys, scores + i * width, grad_scores + i * width);
    }
    const bool more = first > 0;
    multiply(count, dim, head.keys, {grad_scores, width, 1}, forward.k + head.key_offset, stride,
             args.grad_q + at, stride, false);
    multiply(head.keys, dim, count, {grad_scores, 1, width}, q, stride, args.grad_k + head.key_offset, stride,
             more);
    multiply(head.keys, dim, count, {scores, 1, width}, grad_out, stride, args.grad_v + head.key_offset,
             stride, more);
  }
}

void attention_backward(const AttentionBackwardArgs& args, float* scratch, std::int64_t begin,
                        std::int64_t end) {
  for (std::int64_t item = begin; item < end; ++item) attention_backward_head(args, scratch, item);
}

#define RANKTUNE_TEXT_OF(name) #name
#define RANKTUNE_TEXT(name) RANKTUNE_TEXT_OF(name)

}  // namespace

extern const Kernels kKernels = {RANKTUNE_TEXT(RANKTUNE_ISA), dropout,   add_norm,
                                 add_norm_backward,           attention, attention_backward};

}  // namespace ranktune::ops::cpu::RANKTUNE_ISA
