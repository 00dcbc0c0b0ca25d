#include "ranktune/core/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "ranktune/core/error.h"

namespace ranktune::core {
namespace {

std::string system_reason(int code) {
  return std::generic_category().message(code);
}

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }
  bool ok() const noexcept { return value_ >= 0; }

 private:
  int value_;
};

struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path) : descriptor(path, O_RDONLY) {
    if (!descriptor.ok()) throw DataError({path.string()}, "cannot be opened: " + system_reason(errno));
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0)
      throw DataError({path.string()}, "cannot be examined: " + system_reason(errno));
    if (S_ISDIR(status.st_mode)) throw DataError({path.string()}, "is a folder, a file is needed here");
    size = static_cast<std::size_t>(status.st_size);
    regular = S_ISREG(status.st_mode);
  }
  Descriptor descriptor;
  std::size_t size = 0;
  bool regular = false;
};

void flush_to_device(const std::filesystem::path& path, int flags) {
  const Descriptor descriptor(path, flags);
  if (!descriptor.ok() || ::fsync(descriptor.get()) != 0)
    throw Error(path.string() + ": cannot be flushed to the disk: " + system_reason(errno));
}

/// A name beside `path` that no other process uses; removed again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& path)
      : path_(path.string() + ".tmp." + std::to_string(::getpid())) {}
  ~TemporaryFile() {
    if (path_.empty()) return;
    std::error_code ignored;  // nothing better can be done about a file that cannot be removed
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }
  void rename_to(const std::filesystem::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0)
      throw Error(target.string() + ": cannot be replaced: " + system_reason(errno));
    path_.clear();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  std::string content;
  content.resize(file.regular ? file.size : 0);
  std::size_t filled = 0;
  for (;;) {
    if (filled == content.size()) content.resize(content.size() + (file.regular ? 1 : 65536));
    const ssize_t count = ::read(file.descriptor.get(), content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw DataError({path.string()}, "cannot be read: " + system_reason(errno));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  content.resize(filled);
  return content;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const OpenFile file(path);
  size_ = file.size;
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (address == MAP_FAILED) throw DataError({path.string()}, "cannot be mapped: " + system_reason(errno));
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(std::ostream&)>& write) {
  TemporaryFile temporary(path);
  {
    std::ofstream stream(temporary.path(), std::ios::binary | std::ios::trunc);
    if (!stream) throw Error(path.string() + ": cannot be written: " + system_reason(errno));
    write(stream);
    stream.flush();
    if (!stream) throw Error(path.string() + ": cannot be written completely: " + system_reason(errno));
  }
  flush_to_device(temporary.path(), O_RDONLY);
  temporary.rename_to(path);
  const std::filesystem::path folder = path.parent_path();
  flush_to_device(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, [content](std::ostream& stream) {
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

}  // namespace ranktune::core
