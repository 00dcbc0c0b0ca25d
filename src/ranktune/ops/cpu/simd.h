#pragma once

// Included by kernels.cpp only, which is compiled once per instruction set: all of it lies in that set's
// namespace, and nothing of the standard library is instantiated here, so that no code of one set can be
// linked into another.

#include <cmath>
#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace ranktune::ops::cpu::RANKTUNE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

using Floats = float __attribute__((vector_size(kWidth * 4)));
using Ints = std::int32_t __attribute__((vector_size(kWidth * 4)));
using Words = std::uint32_t __attribute__((vector_size(kWidth * 4)));
using UnalignedFloats = float __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));

inline Floats load(const float* from) {
  return *reinterpret_cast<const UnalignedFloats*>(from);
}
inline void store(float* to, Floats value) {
  *reinterpret_cast<UnalignedFloats*>(to) = value;
}
inline Floats splat(float value) {
  return value - Floats{};
}
inline Words splat_word(std::uint32_t value) {
  return value - Words{};
}

inline float sum(Floats value) {
  float total = 0;
  for (int lane = 0; lane < kWidth; ++lane) total += value[lane];
  return total;
}

inline float largest(Floats value) {
  float result = value[0];
  for (int lane = 1; lane < kWidth; ++lane) result = value[lane] > result ? value[lane] : result;
  return result;
}

/// exp: x = n ln 2 + r with |r| <= ln 2 / 2, then 2^n times the Taylor polynomial of degree 7 in r
/// (truncation error 5e-9). Below -87 the result is 0; REQUIRES x <= 88.
inline Floats exponential(Floats x) {
  const Floats low = splat(-87.0F);
  const Ints tiny = x < low;
  x = tiny ? low : x;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
  const Floats n = (x * 1.44269504F + kRound) - kRound;
  const Floats r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  Floats p = splat(1.0F / 5040);
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  __builtin_memcpy(&power, &exponent, sizeof power);
  return tiny ? Floats{} : p * power;
}

/// Both halves of the 64-bit products a[i] * factor.
inline void multiply_wide(Words a, std::uint32_t factor, Words& high, Words& low) {
#if defined(__AVX512F__)
  const __m512i x = reinterpret_cast<__m512i>(a), m = _mm512_set1_epi32(static_cast<int>(factor));
  const __m512i even = _mm512_mul_epu32(x, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
  low = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32)));
  high = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd));
#elif defined(__AVX2__)
  const __m256i x = reinterpret_cast<__m256i>(a), m = _mm256_set1_epi32(static_cast<int>(factor));
  const __m256i even = _mm256_mul_epu32(x, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);
  low = reinterpret_cast<Words>(_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
  high = reinterpret_cast<Words>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
#else
  for (int lane = 0; lane < kWidth; ++lane) {
    const std::uint64_t product = static_cast<std::uint64_t>(a[lane]) * factor;
    low[lane] = static_cast<std::uint32_t>(product);
    high[lane] = static_cast<std::uint32_t>(product >> 32);
  }
#endif
}

/// Elements of a row are numbered in blocks of 64; a block takes the 16 Philox counters {16 * block + lane,
/// token, row, step}, and word w of lane l belongs to element 16 * w + l, so that no shuffling is needed at
/// any vector width.
constexpr int kMaskBlock = 64;

/// What the 64 elements of a block are multiplied by: 0 or mask.scale. core::philox4x32 is the reference.
inline void mask_block(const Mask& mask, std::uint32_t block, std::uint32_t token, std::uint32_t row,
                       float* out) {
  for (int base = 0; base < 16; base += kWidth) {
    Words c0, c1 = splat_word(token), c2 = splat_word(row), c3 = splat_word(mask.step);
    for (int lane = 0; lane < kWidth; ++lane) c0[lane] = block * 16 + static_cast<std::uint32_t>(base + lane);
    std::uint32_t key0 = mask.key0, key1 = mask.key1;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      Words high0, low0, high1, low1;
      multiply_wide(c0, 0xD2511F53U, high0, low0);
      multiply_wide(c2, 0xCD9E8D57U, high1, low1);
      c0 = high1 ^ c1 ^ key0;
      c1 = low1;
      c2 = high0 ^ c3 ^ key1;
      c3 = low0;
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
    const Words threshold = splat_word(mask.threshold);
    const Floats keep = splat(mask.scale);
    store(out + base, c0 < threshold ? Floats{} : keep);
    store(out + 16 + base, c1 < threshold ? Floats{} : keep);
    store(out + 32 + base, c2 < threshold ? Floats{} : keep);
    store(out + 48 + base, c3 < threshold ? Floats{} : keep);
  }
}

/// A strided view of a matrix whose elements are used one at a time.
struct Scalars {
  const float* data;
  std::int64_t row_stride, column_stride;
  float at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

template <int Rows, int Columns>
inline void multiply_tile(std::int64_t depth, Scalars a, const float* b, std::int64_t b_stride, float* c,
                          std::int64_t c_stride, bool accumulate) {
  Floats total[Rows][Columns];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j)
      total[i][j] = accumulate ? load(c + i * c_stride + j * kWidth) : Floats{};
  for (std::int64_t k = 0; k < depth; ++k) {
    Floats row[Columns];
    for (int j = 0; j < Columns; ++j) row[j] = load(b + k * b_stride + j * kWidth);
    for (int i = 0; i < Rows; ++i) {
      const float factor = a.at(i, k);
      for (int j = 0; j < Columns; ++j) total[i][j] += factor * row[j];
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) store(c + i * c_stride + j * kWidth, total[i][j]);
}

/// Columns that fill no vector, one by one: only heads narrower than a vector come here.
inline void multiply_rest(std::int64_t rows, std::int64_t columns, std::int64_t depth, Scalars a,
                          const float* b, std::int64_t b_stride, float* c, std::int64_t c_stride,
                          bool accumulate) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      float total = accumulate ? c[i * c_stride + j] : 0.0F;
      for (std::int64_t k = 0; k < depth; ++k) total += a.at(i, k) * b[k * b_stride + j];
      c[i * c_stride + j] = total;
    }
}

template <int Columns>
inline void multiply_panel(std::int64_t rows, std::int64_t depth, Scalars a, const float* b,
                           std::int64_t b_stride, float* c, std::int64_t c_stride, bool accumulate) {
  std::int64_t i = 0;
  const auto part = [&](std::int64_t row) {
    return Scalars{a.data + row * a.row_stride, a.row_stride, a.column_stride};
  };
  for (; i + 6 <= rows; i += 6)
    multiply_tile<6, Columns>(depth, part(i), b, b_stride, c + i * c_stride, c_stride, accumulate);
  for (; i + 2 <= rows; i += 2)
    multiply_tile<2, Columns>(depth, part(i), b, b_stride, c + i * c_stride, c_stride, accumulate);
  for (; i < rows; ++i)
    multiply_tile<1, Columns>(depth, part(i), b, b_stride, c + i * c_stride, c_stride, accumulate);
}

/// c [rows, columns] = (accumulate ? c : 0) + a [rows, depth] * b [depth, columns], for matrices that fit the
/// caches: tiles of 6 rows by 2 vectors stay in registers over the whole depth.
inline void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth, Scalars a, const float* b,
                     std::int64_t b_stride, float* c, std::int64_t c_stride, bool accumulate) {
  std::int64_t j = 0;
  for (; j + 2 * kWidth <= columns; j += 2 * kWidth)
    multiply_panel<2>(rows, depth, a, b + j, b_stride, c + j, c_stride, accumulate);
  for (; j + kWidth <= columns; j += kWidth)
    multiply_panel<1>(rows, depth, a, b + j, b_stride, c + j, c_stride, accumulate);
  if (j < columns) multiply_rest(rows, columns - j, depth, a, b + j, b_stride, c + j, c_stride, accumulate);
}

}  // namespace
}  // namespace ranktune::ops::cpu::RANKTUNE_ISA
