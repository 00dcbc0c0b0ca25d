#include "ranktune/models/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "ranktune/core/error.h"

namespace ranktune::models {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian, and mapped as they are");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the Python package
constexpr const char* kMetadataKey = "__metadata__";
constexpr const char* kAdvice =
    "; the file is damaged or was made by a faulty program: fetch or save it again";

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

/// In the order in which the Python package lays types out in a file.
constexpr DTypeRow kDTypes[] = {
    {DType::i64, "I64", 8},   {DType::f64, "F64", 8},      {DType::f32, "F32", 4}, {DType::i32, "I32", 4},
    {DType::bf16, "BF16", 2}, {DType::f16, "F16", 2},      {DType::i16, "I16", 2}, {DType::i8, "I8", 1},
    {DType::u8, "U8", 1},     {DType::boolean, "BOOL", 1},
};

const DTypeRow& row_of(DType dtype) {
  return *std::find_if(std::begin(kDTypes), std::end(kDTypes),
                       [dtype](const DTypeRow& row) { return row.dtype == dtype; });
}

/// Bytes of a tensor, or nothing where the number does not fit 64 bits or a dimension is negative.
std::optional<std::size_t> byte_size(const std::vector<std::int64_t>& shape, DType dtype) {
  std::size_t size = size_of(dtype);
  for (const std::int64_t dimension : shape)
    if (dimension < 0 || __builtin_mul_overflow(size, static_cast<std::size_t>(dimension), &size))
      return std::nullopt;
  return size;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

/// Reads and checks a header. Every fault is a DataError that names the file and, where there is one, the
/// tensor.
class HeaderReader {
 public:
  HeaderReader(std::string file, std::string_view content) : file_(std::move(file)), content_(content) {}

  std::size_t data_begin() const { return data_begin_; }

  json read() {
    if (content_.size() < kLengthBytes)
      fail("has " + std::to_string(content_.size()) + " bytes, which is too short for a safetensors file");
    std::uint64_t length = 0;
    std::memcpy(&length, content_.data(), kLengthBytes);
    if (length > kMaxHeaderBytes)
      fail("says that its header has " + std::to_string(length) + " bytes, the limit is " +
           std::to_string(kMaxHeaderBytes) + "; this is no safetensors file");
    if (length > content_.size() - kLengthBytes)
      fail("says that its header has " + std::to_string(length) + " bytes, but only " +
           std::to_string(content_.size() - kLengthBytes) + " follow" + kAdvice);
    data_begin_ = kLengthBytes + static_cast<std::size_t>(length);
    return parse(content_.substr(kLengthBytes, static_cast<std::size_t>(length)));
  }

  std::map<std::string, std::string> read_metadata(const json& header) const {
    std::map<std::string, std::string> metadata;
    const auto found = header.find(kMetadataKey);
    if (found == header.end()) return metadata;
    if (!found->is_object()) fail("has metadata that is no JSON object" + std::string(kAdvice));
    for (const auto& [key, value] : found->items()) {
      if (!value.is_string()) fail("has metadata '" + key + "' that is no text" + kAdvice);
      metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
  }

  std::vector<TensorInfo> read_tensors(const json& header) const {
    std::vector<TensorInfo> tensors;
    for (const auto& [name, entry] : header.items())
      if (name != kMetadataKey) tensors.push_back(read_tensor(name, entry));
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_cover(tensors);
    return tensors;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw DataError({file_}, message); }
  [[noreturn]] void fail(const std::string& name, const std::string& message) const {
    fail("tensor '" + name + "' " + message + kAdvice);
  }

  json parse(std::string_view text) const {
    std::set<std::string> names;
    const json::parser_callback_t refuse_twins = [&](int depth, json::parse_event_t event, json& parsed) {
      if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
        fail(parsed.get<std::string>(), "is in the header twice");
      return true;
    };
    json header;
    try {
      header = json::parse(text, refuse_twins);
    } catch (const json::exception&) {
      fail("has a header that is not valid JSON" + std::string(kAdvice));
    }
    if (!header.is_object()) fail("has a header that is no JSON object" + std::string(kAdvice));
    return header;
  }

  TensorInfo read_tensor(const std::string& name, const json& entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      fail(name, "lacks dtype, shape or data_offsets");
    TensorInfo tensor;
    tensor.name = name;
    tensor.dtype = read_dtype(name, entry["dtype"]);
    for (const std::size_t dimension : read_numbers(name, "shape", entry["shape"])) {
      if (!std::in_range<std::int64_t>(dimension)) fail(name, "has a dimension that is too large");
      tensor.shape.push_back(static_cast<std::int64_t>(dimension));
    }
    const std::vector<std::size_t> offsets = read_numbers(name, "data_offsets", entry["data_offsets"]);
    if (offsets.size() != 2) fail(name, "has data_offsets that are not two numbers");
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    check_size(tensor);
    return tensor;
  }

  DType read_dtype(const std::string& name, const json& value) const {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto row = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                  [&](const DTypeRow& r) { return r.name == text; });
    if (row == std::end(kDTypes))
      throw DataError({file_}, "tensor '" + name + "' has the type " + text +
                                   ", which is not supported; convert the file to F32 or F16");
    return row->dtype;
  }

  std::vector<std::size_t> read_numbers(const std::string& name, const std::string& key,
                                        const json& values) const {
    std::vector<std::size_t> numbers;
    if (!values.is_array()) fail(name, "has a " + key + " that is no list");
    for (const json& value : values) {
      if (!value.is_number_unsigned())
        fail(name, "has a " + key + " with " + value.dump() + ", which is no count");
      numbers.push_back(value.get<std::size_t>());
    }
    return numbers;
  }

  void check_size(const TensorInfo& tensor) const {
    const std::size_t data_size = content_.size() - data_begin_;
    if (tensor.begin > tensor.end || tensor.end > data_size)
      fail(tensor.name, "claims the bytes " + std::to_string(tensor.begin) + " to " +
                            std::to_string(tensor.end) + " of " + std::to_string(data_size) +
                            " that are there");
    const std::optional<std::size_t> size = byte_size(tensor.shape, tensor.dtype);
    if (!size) fail(tensor.name, "has the shape " + shape_text(tensor.shape) + ", which is too large");
    if (*size != tensor.end - tensor.begin)
      fail(tensor.name, "has the shape " + shape_text(tensor.shape) + " of type " +
                            std::string(name_of(tensor.dtype)) + ", which is " + std::to_string(*size) +
                            " bytes, but has " + std::to_string(tensor.end - tensor.begin));
  }

  /// The tensors must cover the data part exactly, so that no byte belongs to two of them or to none.
  void check_cover(const std::vector<TensorInfo>& tensors) const {
    std::size_t covered = 0;
    for (const TensorInfo& tensor : tensors) {
      if (tensor.begin < covered) fail(tensor.name, "shares bytes with another tensor");
      if (tensor.begin > covered) fail(tensor.name, "follows bytes that belong to no tensor");
      covered = tensor.end;
    }
    const std::size_t rest = content_.size() - data_begin_ - covered;
    if (rest > 0) fail("ends in " + std::to_string(rest) + " bytes that belong to no tensor" + kAdvice);
  }

  std::string file_;
  std::string_view content_;
  std::size_t data_begin_ = 0;
};

std::string make_header(const std::vector<TensorToWrite>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::size_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    nlohmann::ordered_json entry;
    entry["dtype"] = name_of(tensor.dtype);
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {offset, offset + tensor.bytes.size()};
    offset += tensor.bytes.size();
    header[tensor.name] = std::move(entry);
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

void check_tensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors) {
  std::set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) {
    if (!names.insert(tensor.name).second || tensor.name == kMetadataKey)
      throw Error(path.string() + ": cannot hold two tensors named '" + tensor.name + "'");
    if (byte_size(tensor.shape, tensor.dtype) != tensor.bytes.size())
      throw Error(path.string() + ": tensor '" + tensor.name + "' has " +
                  std::to_string(tensor.bytes.size()) + " bytes, which does not fit its shape " +
                  shape_text(tensor.shape));
  }
}

}  // namespace

std::string_view name_of(DType dtype) {
  return row_of(dtype).name;
}

std::size_t size_of(DType dtype) {
  return row_of(dtype).size;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  HeaderReader reader(path.string(), file_.text());
  const json header = reader.read();
  data_begin_ = reader.data_begin();
  metadata_ = reader.read_metadata(header);
  tensors_ = reader.read_tensors(header);
  for (std::size_t i = 0; i < tensors_.size(); ++i) places_.emplace(tensors_[i].name, i);
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &tensors_[place->second];
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  return file_.bytes().subspan(data_begin_ + tensor.begin, tensor.end - tensor.begin);
}

void write_safetensors(const std::filesystem::path& path, std::vector<TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_tensors(path, tensors);
  std::sort(tensors.begin(), tensors.end(), [](const TensorToWrite& a, const TensorToWrite& b) {
    return std::pair(&row_of(a.dtype), std::string_view(a.name)) <
           std::pair(&row_of(b.dtype), std::string_view(b.name));
  });
  const std::string header = make_header(tensors, metadata);
  core::write_file_atomically(path, [&](std::ostream& stream) {
    const std::uint64_t length = header.size();
    stream.write(reinterpret_cast<const char*>(&length), sizeof length);
    stream.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const TensorToWrite& tensor : tensors)
      stream.write(reinterpret_cast<const char*>(tensor.bytes.data()),
                   static_cast<std::streamsize>(tensor.bytes.size()));
  });
}

}  // namespace ranktune::models
