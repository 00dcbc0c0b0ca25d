#pragma once

#include <filesystem>

namespace ranktune::cli {

/// Where the program lies that is linked with LibTorch: ../libexec/ranktune-train, seen from the front
/// program's folder. The layout is the same in a build folder and under an installation's prefix. THROWS:
/// Error when it is not there.
std::filesystem::path find_train_program(const std::filesystem::path& front_program);

}  // namespace ranktune::cli
