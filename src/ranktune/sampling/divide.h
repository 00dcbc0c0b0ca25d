#pragma once

#include <cstdint>

namespace ranktune::sampling {

/// a / b rounded up. REQUIRES: a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

}  // namespace ranktune::sampling
