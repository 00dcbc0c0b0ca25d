#pragma once

#include <cstddef>
#include <functional>

namespace ranktune::core {

/// Calls work(0) .. work(count - 1), each in a thread of its own, and waits for all. THROWS: what the first
/// of them threw, by number.
void run_in_threads(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace ranktune::core
