#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/files.h"

/// Weights as the safetensors package stores them: a JSON header, then the bytes of all tensors without a
/// gap.
namespace ranktune::models {

enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

/// The format's name of a type: "F32", "BF16", "BOOL".
std::string_view name_of(DType dtype);

/// Bytes of one element.
std::size_t size_of(DType dtype);

/// One tensor of a file, row-major, little-endian.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  ///< empty for a single number
  std::size_t begin = 0;            ///< bytes begin .. end - 1 of the data part
  std::size_t end = 0;
};

/// A safetensors file, mapped into memory and checked: whatever the header claims has been compared with the
/// file. LIFETIME: spans live as long as this object. THREAD SAFETY: all const members may be used from
/// several threads.
class SafetensorsFile {
 public:
  /// THROWS: DataError that names the file and the tensor for a file that is absent, torn, or whose header
  /// lies.
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// All tensors in the order in which their bytes lie in the file.
  const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }

  /// The tensor of that name, or nullptr. Valid as long as this object is.
  const TensorInfo* find(std::string_view name) const;

  /// The bytes of one of tensors(). They may lie at any address: copy them, do not cast the pointer.
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;

  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }

 private:
  core::MappedFile file_;
  std::size_t data_begin_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::map<std::string, std::string> metadata_;
};

/// A tensor to be written. The bytes are only read.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes the bytes that the Python package writes for the same tensors: wide types first, then by name, the
/// header padded with spaces to a multiple of 8. The file is the old one or the new one, never a part.
/// THROWS: Error for two tensors of one name, a size that does not fit the shape, and failures of the system.
void write_safetensors(const std::filesystem::path& path, std::vector<TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace ranktune::models
