#include "ranktune/core/utf8.h"

#include <cstring>

namespace ranktune::core {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

/// Length of the well-formed sequence at `text`, 0 when there is none (Unicode standard, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return static_cast<unsigned char>(i < text.size() ? text[i] : 0);
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !is_continuation(byte(1))) return 0;
  if (lead < 0xE0) return 2;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) || !is_continuation(byte(2)))
    return 0;
  if (lead < 0xF0) return 3;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F) || !is_continuation(byte(3)))
    return 0;
  return 4;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    std::uint64_t block = 0;  // most text is ASCII: eight bytes at once
    if (i + 8 <= text.size()) {
      std::memcpy(&block, text.data() + i, 8);
      if ((block & 0x8080808080808080ULL) == 0) {
        i += 8;
        continue;
      }
    }
    const std::size_t length = sequence_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

char32_t next_code_point(std::string_view text, std::size_t& position) noexcept {
  const auto byte = [&] { return static_cast<unsigned char>(text[position++]); };
  const char32_t lead = byte();
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return ((lead & 0x1F) << 6) | (byte() & 0x3FU);
  char32_t value = lead < 0xF0 ? lead & 0x0F : lead & 0x07;
  for (int rest = lead < 0xF0 ? 2 : 3; rest > 0; --rest) value = (value << 6) | (byte() & 0x3FU);
  return value;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace ranktune::core
