#include "ranktune/train/whole_folder.h"

#include <string>
#include <system_error>

#include "ranktune/core/error.h"

namespace ranktune::train {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with its content when the scope ends, if it is still there.
class Scratch {
 public:
  explicit Scratch(fs::path path) : path_(std::move(path)) { remove(); }
  ~Scratch() { remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const fs::path& path() const noexcept { return path_; }

 private:
  void remove() noexcept {
    std::error_code ignored;  // what cannot be removed is found again by the next write
    fs::remove_all(path_, ignored);
  }
  fs::path path_;
};

void require(const std::error_code& status, const fs::path& folder) {
  if (status) throw Error(folder.string() + ": cannot be written: " + status.message());
}

}  // namespace

void write_whole_folder(const fs::path& folder, const std::function<void(const fs::path&)>& fill) {
  const std::string hidden = "." + folder.filename().string();
  const Scratch fresh(folder.parent_path() / (hidden + ".part"));
  const Scratch replaced(folder.parent_path() / (hidden + ".old"));
  std::error_code status;
  fs::create_directories(fresh.path(), status);
  require(status, folder);
  fill(fresh.path());
  if (fs::exists(folder)) {
    fs::rename(folder, replaced.path(), status);
    require(status, folder);
  }
  fs::rename(fresh.path(), folder, status);
  require(status, folder);
}

}  // namespace ranktune::train
