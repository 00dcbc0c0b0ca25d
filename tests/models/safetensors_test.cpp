#include "ranktune/models/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>

#include "ranktune/core/error.h"
#include "support/temporary_folder.h"

namespace ranktune::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kFixtures =
    std::filesystem::path(RANKTUNE_SOURCE_DIR) / "tests/fixtures/safetensors";

template <class T>
std::vector<T> values_of(const SafetensorsFile& file, const std::string& name) {
  const std::span<const std::byte> bytes = file.bytes(*file.find(name));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A file of any header and data, its length field right unless one is given.
std::string raw_file(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(data_bytes, '\1');
}
std::string raw_file(const std::string& header, std::size_t data_bytes) {
  return raw_file(header, data_bytes, header.size());
}

TEST(SafetensorsFile, ReadsEveryTypeThatThePythonPackageWrote) {
  const SafetensorsFile file(kFixtures / "every_type.safetensors");
  ASSERT_EQ(file.tensors().size(), 23U);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  const std::pair<const char*, DType> types[] = {
      {"f64", DType::f64}, {"f32", DType::f32},     {"f16", DType::f16}, {"bf16", DType::bf16},
      {"i64", DType::i64}, {"i32", DType::i32},     {"i16", DType::i16}, {"i8", DType::i8},
      {"u8", DType::u8},   {"bool", DType::boolean}};
  for (const auto& [name, dtype] : types) {
    const TensorInfo* tensor = file.find(std::string("a.") + name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->dtype, dtype);
    EXPECT_THAT(tensor->shape, ElementsAre(2, 1));
    EXPECT_EQ(file.bytes(*tensor).size(), 2 * size_of(dtype));
  }
  EXPECT_THAT(values_of<float>(file, "z.f32"), ElementsAre(0, 1, 2));
  EXPECT_THAT(values_of<double>(file, "z.f64"), ElementsAre(0, 1, 2));
  EXPECT_THAT(values_of<std::int64_t>(file, "z.i64"), ElementsAre(0, 1, 2));
  EXPECT_THAT(values_of<std::uint16_t>(file, "z.bf16"), ElementsAre(0x0000, 0x3F80, 0x4000));
  EXPECT_THAT(values_of<std::uint8_t>(file, "z.bool"), ElementsAre(0, 1, 1));
  EXPECT_THAT(values_of<float>(file, "scalar"), ElementsAre(2.5F));
  EXPECT_TRUE(file.find("scalar")->shape.empty());
  EXPECT_THAT(file.find("empty")->shape, ElementsAre(0, 4));
  EXPECT_NE(file.find("odd \"n\xC3\xA4me\"\t"), nullptr);
  EXPECT_EQ(file.find("absent"), nullptr);
}

TEST(WriteSafetensors, WritesTheBytesOfThePythonPackage) {
  const tests::TemporaryFolder folder;
  const SafetensorsFile original(kFixtures / "every_type.safetensors");
  std::vector<TensorToWrite> tensors;
  for (const TensorInfo& tensor : original.tensors())
    tensors.insert(tensors.begin(), {tensor.name, tensor.dtype, tensor.shape, original.bytes(tensor)});
  const auto path = folder.path() / "copy.safetensors";
  write_safetensors(path, tensors);
  EXPECT_EQ(core::read_file(path), core::read_file(kFixtures / "every_type.safetensors"));
  write_safetensors(path, {}, {});
  EXPECT_EQ(core::read_file(path), core::read_file(kFixtures / "nothing.safetensors"));
  EXPECT_TRUE(SafetensorsFile(path).tensors().empty());
}

TEST(WriteSafetensors, KeepsTheOldFileWhenTheInputIsWrong) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("model.safetensors", "old");
  const std::vector<float> values = {1, 2, 3, 4};
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_THROW(write_safetensors(path, {{"w", DType::f32, {3}, bytes}}), Error);
  EXPECT_THROW(write_safetensors(path, {{"w", DType::f32, {-2, -2}, bytes}}), Error);
  EXPECT_THROW(write_safetensors(path, {{"w", DType::f32, {4}, bytes}, {"w", DType::f32, {2, 2}, bytes}}),
               Error);
  EXPECT_THROW(write_safetensors(path, {{"__metadata__", DType::f32, {4}, bytes}}), Error);
  EXPECT_EQ(core::read_file(path), "old");
}

struct Lie {
  const char* name;
  std::string content;
  const char* message;  ///< part of what the error says
};

std::string tensor(const std::string& body) {
  return "{\"w\":{" + body + "}}";
}

std::vector<Lie> lies() {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  return {
      {"empty file", "", "0 bytes"},
      {"seven bytes", std::string(7, '\0'), "7 bytes"},
      {"header beyond the file", raw_file("{}", 0, 300), "300 bytes, but only 2 follow"},
      {"header length near 2^64", raw_file("{}", 0, ~std::uint64_t{0} - 7), "the limit"},
      {"header of more than 100 MB", raw_file("{}", 0, 100'000'001), "100000001"},
      {"header that is no JSON", raw_file("{\"w\":", 0), "not valid JSON"},
      {"number beyond doubles", raw_file("{\"w\":1e999}", 0), "not valid JSON"},
      {"header that is a list", raw_file("[]", 0), "no JSON object"},
      {"invalid UTF-8", raw_file("{\"\xFF\":1}", 0), "not valid JSON"},
      {"metadata that is a number", raw_file(R"({"__metadata__":3})", 0), "metadata"},
      {"metadata value that is a number", raw_file(R"({"__metadata__":{"a":3}})", 0), "metadata 'a'"},
      {"tensor that is a number", raw_file("{\"w\":3}", 0), "'w' lacks"},
      {"no shape", raw_file(tensor(R"("dtype":"F32","data_offsets":[0,8])"), 8), "'w' lacks"},
      {"unknown type", raw_file(tensor(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"), 8),
       "F8_E4M3"},
      {"type that is a number", raw_file(tensor(R"("dtype":4,"shape":[2],"data_offsets":[0,8])"), 8),
       "type 4"},
      {"negative shape", raw_file(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8), "-2"},
      {"fraction in the shape", raw_file(tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8),
       "2.0"},
      {"shape that overflows",
       raw_file(tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"), 8),
       "too large"},
      {"dimension beyond 63 bits",
       raw_file(tensor(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8])"), 8),
       "too large"},
      {"shape that overflows to the right size",
       raw_file(tensor(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])"), 8),
       "too large"},
      {"size that does not fit", raw_file(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8),
       "12 bytes"},
      {"three offsets", raw_file(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4,8])"), 8),
       "two numbers"},
      {"offsets that are no list", raw_file(tensor(R"("dtype":"F32","shape":[2],"data_offsets":8)"), 8),
       "no list"},
      {"offsets backwards", raw_file(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8),
       "claims"},
      {"negative offset", raw_file(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])"), 8), "-8"},
      {"truncated data", raw_file(tensor(good), 7), "claims the bytes 0 to 8 of 7"},
      {"bytes left over", raw_file(tensor(good), 9), "1 bytes that belong to no tensor"},
      {"hole at the front", raw_file(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8),
       "follows bytes"},
      {"overlap",
       raw_file(
           R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
           12),
       "'w' shares bytes"},
      {"hole in the middle",
       raw_file(
           R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
           12),
       "'w' follows bytes"},
      {"one name twice", raw_file("{\"w\":{" + good + "},\"w\":{" + good + "}}", 8),
       "'w' is in the header twice"},
  };
}

TEST(SafetensorsFile, RefusesEveryLieInOneLineThatNamesTheFile) {
  const tests::TemporaryFolder folder;
  for (const Lie& lie : lies()) {
    const auto path = folder.file("model.safetensors", lie.content);
    try {
      const SafetensorsFile file(path);
      ADD_FAILURE() << lie.name << ": no error";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(path.string() + ": ")) << lie.name;
      EXPECT_THAT(error.what(), HasSubstr(lie.message)) << lie.name;
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n"))) << lie.name;
    }
  }
}

TEST(SafetensorsFile, RefusesAFileThatWasCutOffAnywhere) {
  const tests::TemporaryFolder folder;
  const std::string content = core::read_file(kFixtures / "every_type.safetensors");
  std::vector<std::size_t> lengths = {8, 9, content.size() - 1};
  for (std::size_t length = 0; length < content.size(); length += 13) lengths.push_back(length);
  for (const std::size_t length : lengths)
    EXPECT_THROW(SafetensorsFile(folder.file("cut", std::string_view(content).substr(0, length))), DataError)
        << length;
}

TEST(SafetensorsFile, StaysInsideTheFileWhateverByteOfTheHeaderIsWrong) {
  const tests::TemporaryFolder folder;
  const std::string content = core::read_file(kFixtures / "every_type.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, content.data(), 8);
  for (std::size_t place = 0; place < 8 + header; place += 7) {
    std::string changed = content;
    changed[place] = static_cast<char>(changed[place] ^ 1);  // digits become other digits
    const auto path = folder.file("changed", changed);
    try {
      const SafetensorsFile file(path);
      std::size_t bytes = 0;
      for (const TensorInfo& tensor : file.tensors()) bytes += file.bytes(tensor).size();
      EXPECT_EQ(bytes, content.size() - 8 - header) << place;
    } catch (const DataError& error) {
      EXPECT_EQ(error.where().file, path.string());
    }
  }
}

TEST(SafetensorsFile, AcceptsTensorsInAnyOrderAndAnEmptyOneAnywhere) {
  const tests::TemporaryFolder folder;
  const std::string header =
      R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"e":{"dtype":"F32","shape":[0],"data_offsets":[2,2]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}})";
  const SafetensorsFile file(folder.file("f", raw_file(header, 5)));
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "b");
  EXPECT_EQ(file.bytes(*file.find("a")).size(), 3U);
  EXPECT_TRUE(file.bytes(*file.find("e")).empty());
}

}  // namespace
}  // namespace ranktune::models
