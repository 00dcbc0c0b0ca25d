#include "cli/programs.h"

#include <sstream>

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

namespace {

/// The first file of that name in the folders of PATH; empty where there is none.
std::filesystem::path find_in_path(const std::string& name, const std::string& search_path) {
  std::istringstream folders(search_path);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::filesystem::path file = std::filesystem::path(folder) / name;
        std::filesystem::is_regular_file(file, ignored))
      return file;
  return {};
}

}  // namespace

std::filesystem::path front_program(const std::filesystem::path& program, const std::filesystem::path& folder,
                                    const std::string& search_path) {
  if (program.filename() != "ranktune-train") return program;
  const std::filesystem::path front = (program.parent_path() / ".." / "bin" / "ranktune").lexically_normal();
  std::error_code ignored;
  if (std::filesystem::equivalent(find_in_path("ranktune", search_path), front, ignored)) return "ranktune";
  const std::filesystem::path relative = front.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? front : relative;
}

}  // namespace ranktune::cli
