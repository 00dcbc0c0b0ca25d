#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

/// Files at the rim: whole reads, read-only mappings, and writes that are complete or absent.
namespace ranktune::core {

/// The whole content of a file. THROWS: DataError that says what the system said ("no such file", "is a
/// folder").
std::string read_file(const std::filesystem::path& path);

/// A read-only mapping of a file. An empty file maps to an empty view.
/// LIFETIME: views into bytes() live as long as this object. THROWS: DataError as read_file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes a file so that a reader sees the old content or the new content, never a part of it, whatever
/// happens in between: into a temporary file beside `path`, flushed to the device, then renamed, then the
/// folder flushed. The temporary file is removed when `write` throws or the device is full. THROWS: Error
/// that names the path and what the system said.
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(std::ostream&)>& write);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace ranktune::core
