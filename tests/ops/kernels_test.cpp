// Every instruction set's kernels against the generic ones, on the same inputs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "ranktune/core/random.h"
#include "ranktune/ops/cpu/kernels.h"

namespace ranktune::ops::cpu {
namespace {

std::vector<float> random(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

void expect_close(const std::vector<float>& actual, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

class EveryInstructionSet : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(kernels().name) != GetParam()) GTEST_SKIP() << "this processor lacks " << GetParam();
  }
  const Kernels& kernels() const { return select_kernels(GetParam()); }
  static const Kernels& generic() { return select_kernels("generic"); }

  const std::vector<std::int64_t> offsets_{0, 3, 70, 71, 200}, rows_{4, 0, 9, 2};
  const Sequences sequences_{offsets_.data(), rows_.data(), 4};
  const Mask mask_{42, 5, 17, 429496730, 1.0F / 0.9F};
};

TEST_P(EveryInstructionSet, DrawsTheMasksOfPhilox) {
  constexpr std::int64_t kChannels = 150;
  const std::vector<float> ones(200 * kChannels, 1.0F);
  std::vector<float> y(ones.size());
  kernels().dropout({ones.data(), y.data(), kChannels, sequences_, mask_}, 0, 200);
  for (std::int64_t s = 0; s < 4; ++s)
    for (std::int64_t token = offsets_[s]; token < offsets_[s + 1]; ++token)
      for (std::int64_t c = 0; c < kChannels; ++c) {
        const auto words = core::philox4x32({static_cast<std::uint32_t>(c / 64 * 16 + c % 16),
                                             static_cast<std::uint32_t>(token - offsets_[s]),
                                             static_cast<std::uint32_t>(rows_[s]), mask_.step},
                                            {mask_.key0, mask_.key1});
        const bool dropped = words[static_cast<std::size_t>(c / 16 % 4)] < mask_.threshold;
        ASSERT_EQ(y[token * kChannels + c], dropped ? 0.0F : mask_.scale) << token << ' ' << c;
      }
}

TEST_P(EveryInstructionSet, NormsAsTheGenericKernels) {
  for (const std::int64_t channels : {9, 48, 384}) {
    const auto size = static_cast<std::size_t>(200 * channels);
    const auto x = random(size, 1), residual = random(size, 2), gradient = random(size, 3);
    const auto gamma = random(channels, 4), beta = random(channels, 5);
    const auto run = [&](const Kernels& set) {
      std::vector<float> y(size), sum(size), mean(200), rstd(200), grad_x(size), grad_residual(size),
          partial(8 * channels);
      set.add_norm({x.data(), residual.data(), gamma.data(), beta.data(), y.data(), sum.data(), mean.data(),
                    rstd.data(), 1e-12F, channels, sequences_, mask_},
                   0, 200);
      set.add_norm_backward(
          {gradient.data(), sum.data(), mean.data(), rstd.data(), gamma.data(), grad_x.data(),
           grad_residual.data(), partial.data(), channels, 200, sequences_, mask_},
          0, 4);
      return std::array{y, grad_x, grad_residual, partial};
    };
    const auto actual = run(kernels()), expected = run(generic());
    for (std::size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], 2e-5F);
  }
}

TEST_P(EveryInstructionSet, AttendsAsTheGenericKernels) {
  for (const std::int64_t head_dim : {6, 16, 32}) {
    constexpr std::int64_t kHeads = 2;
    const auto size = static_cast<std::size_t>(200 * kHeads * head_dim);
    const auto q = random(size, 1), k = random(size, 2), v = random(size, 3), gradient = random(size, 4);
    const auto run = [&](const Kernels& set) {
      std::vector<float> out(size), log_sum(200 * kHeads), grad_q(size), grad_k(size), grad_v(size);
      std::vector<float> scratch(static_cast<std::size_t>(attention_scratch(129, head_dim)));
      const AttentionArgs args{q.data(), k.data(), v.data(), out.data(), log_sum.data(),
                               kHeads,   head_dim, false,    sequences_, mask_};
      set.attention(args, scratch.data(), 0, 4 * kHeads);
      set.attention_backward({args, gradient.data(), grad_q.data(), grad_k.data(), grad_v.data()},
                             scratch.data(), 0, 4 * kHeads);
      return std::array{out, log_sum, grad_q, grad_k, grad_v};
    };
    const auto actual = run(kernels()), expected = run(generic());
    for (std::size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], 5e-5F);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryInstructionSet, testing::Values("generic", "avx2", "avx512"));

}  // namespace
}  // namespace ranktune::ops::cpu
