#include "cli/programs.h"

#include "ranktune/core/error.h"

namespace ranktune::cli {

std::filesystem::path find_train_program(const std::filesystem::path& front_program) {
  const std::filesystem::path program =
      front_program.parent_path().parent_path() / "libexec" / "ranktune-train";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(program, ignored)) return program;
  throw Error(program.string() +
              " is missing: this ranktune was built without LibTorch (RANKTUNE_LIBTORCH=OFF), or was "
              "moved without its libexec folder");
}

std::filesystem::path front_program(const std::filesystem::path& program,
                                    const std::filesystem::path& folder) {
  if (program.filename() != "ranktune-train") return program;
  const std::filesystem::path front = (program.parent_path() / ".." / "bin" / "ranktune").lexically_normal();
  const std::filesystem::path relative = front.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? front : relative;
}

}  // namespace ranktune::cli
