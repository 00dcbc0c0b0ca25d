#include "cli/memory.h"

#include <malloc.h>

namespace ranktune::cli {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  ::mallopt(M_TRIM_THRESHOLD, 2047 * kMiB);
  ::mallopt(M_TOP_PAD, 64 * kMiB);
#endif
}

}  // namespace ranktune::cli
