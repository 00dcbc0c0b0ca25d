#pragma once

#include <filesystem>
#include <string>

namespace ranktune::cli {

/// Where the program lies that is linked with LibTorch: ../libexec/ranktune-train, seen from the front
/// program's folder. The layout is the same in a build folder and under an installation's prefix. THROWS:
/// Error when it is not there.
std::filesystem::path find_train_program(const std::filesystem::path& front_program);

/// What to type for the front program, seen from ranktune-train, which is started as `program`: by the front
/// program under the user's own name for that one, or by a launcher under its own path, ../libexec. Seen from
/// `folder` it is a relative path where it lies below; its name alone where `search_path`, PATH's value,
/// finds it.
std::filesystem::path front_program(const std::filesystem::path& program, const std::filesystem::path& folder,
                                    const std::string& search_path);

}  // namespace ranktune::cli
