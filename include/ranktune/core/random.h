#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Randomness as functions of a seed: the order of data, and numbers that depend on nothing but their place.
namespace ranktune::core {

/// The order that torch.randperm(n) gives on a CPU generator after manual_seed(seed): Fisher-Yates on the
/// 32-bit outputs of mt19937 seeded with the low 32 bits. REQUIRES: 0 <= n < 2^31 / 10, where torch changes
/// its algorithm.
std::vector<std::int64_t> random_permutation(std::int64_t n, std::uint64_t seed);

/// Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
/// 2011): 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

}  // namespace ranktune::core
