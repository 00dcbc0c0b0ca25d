#include "ranktune/core/random.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace ranktune::core {
namespace {

using Order = std::vector<std::int64_t>;
using testing::ElementsAre;

// The permutations were printed by torch.randperm (2.13) with a CPU generator of the given seed.

TEST(RandomPermutation, IsTorchsForTenRows) {
  EXPECT_THAT(random_permutation(10, 42), ElementsAre(2, 6, 1, 8, 4, 5, 0, 9, 3, 7));
  EXPECT_THAT(random_permutation(10, 43), ElementsAre(8, 4, 9, 0, 5, 1, 6, 7, 2, 3));
  EXPECT_THAT(random_permutation(10, 44), ElementsAre(2, 6, 3, 8, 7, 9, 1, 4, 5, 0));
  EXPECT_THAT(random_permutation(10, 1), ElementsAre(5, 6, 1, 2, 0, 8, 9, 3, 7, 4));
  EXPECT_THAT(random_permutation(10, 2), ElementsAre(8, 7, 1, 5, 6, 9, 0, 4, 2, 3));
  EXPECT_THAT(random_permutation(10, 3), ElementsAre(6, 0, 3, 7, 8, 5, 1, 9, 2, 4));
}

TEST(RandomPermutation, IsTorchsForThirtySevenRows) {
  EXPECT_EQ(random_permutation(37, 42),
            (Order{12, 24, 13, 15, 28, 0, 10, 21, 20, 30, 23, 2, 22, 31, 18, 3, 36, 32, 35,
                   6,  4,  25, 14, 26, 7, 19, 27, 16, 29, 17, 8, 11, 9,  34, 1, 5,  33}));
  EXPECT_EQ(random_permutation(37, 43),
            (Order{16, 13, 2,  36, 17, 31, 0,  28, 8,  12, 14, 35, 5,  11, 7, 29, 3,  6, 34,
                   22, 19, 30, 27, 32, 18, 10, 21, 25, 23, 33, 1,  15, 24, 9, 26, 20, 4}));
  EXPECT_EQ(random_permutation(37, 44),
            (Order{15, 24, 1, 12, 10, 8,  34, 13, 27, 36, 21, 7,  32, 9,  22, 18, 11, 28, 4,
                   14, 0,  6, 5,  31, 20, 26, 19, 29, 16, 17, 23, 2,  33, 25, 3,  35, 30}));
  EXPECT_EQ(random_permutation(37, 1),
            (Order{30, 24, 6,  11, 29, 14, 27, 18, 15, 33, 0,  1,  28, 36, 13, 21, 22, 7, 32,
                   35, 19, 26, 9,  4,  12, 25, 8,  23, 5,  20, 10, 16, 34, 3,  2,  31, 17}));
  EXPECT_EQ(random_permutation(37, 2),
            (Order{10, 16, 13, 25, 15, 1,  12, 32, 34, 20, 3,  28, 36, 7,  6, 9,  26, 24, 2,
                   0,  23, 19, 35, 5,  14, 31, 33, 21, 11, 18, 29, 4,  27, 8, 30, 22, 17}));
  EXPECT_EQ(random_permutation(37, 3),
            (Order{13, 33, 19, 24, 32, 0,  15, 12, 25, 16, 35, 3,  7, 30, 20, 28, 22, 31, 23,
                   27, 1,  34, 6,  18, 21, 2,  36, 17, 4,  8,  11, 9, 26, 5,  14, 10, 29}));
}

TEST(RandomPermutation, UsesTheLow32BitsOfTheSeed) {
  EXPECT_EQ(random_permutation(37, (std::uint64_t{1} << 32) + 42), random_permutation(37, 42));
  EXPECT_EQ(random_permutation(37, ~std::uint64_t{0}), random_permutation(37, 0xFFFFFFFFU));
}

TEST(RandomPermutation, HoldsEveryRowOnce) {
  EXPECT_TRUE(random_permutation(0, 1).empty());
  EXPECT_THAT(random_permutation(1, 1), ElementsAre(0));
  Order order = random_permutation(70000, 7);
  std::sort(order.begin(), order.end());
  Order all(70000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

// Known answers published with the Random123 library.
TEST(Philox, GivesTheKnownAnswers) {
  constexpr std::uint32_t kOnes = 0xFFFFFFFF;
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

}  // namespace
}  // namespace ranktune::core
