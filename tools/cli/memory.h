#pragma once

namespace ranktune::cli {

/// Freed memory stays with the process: every update asks for the same tensors as the one before, and the
/// pages would otherwise go back to the kernel and be fetched and cleared again, a tenth of the time of an
/// update. One arena, since tensors pass between threads.
void keep_freed_memory();

}  // namespace ranktune::cli
