#pragma once

#include <cstdint>

#include "ranktune/dist/process_group.h"

namespace ranktune::train {

/// Without a group a process is rank 0 of 1.
inline std::int64_t rank_of(const dist::ProcessGroup* group) {
  return group == nullptr ? 0 : group->rank();
}

inline std::int64_t ranks_of(const dist::ProcessGroup* group) {
  return group == nullptr ? 1 : group->world_size();
}

}  // namespace ranktune::train
