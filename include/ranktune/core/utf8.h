#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ranktune::core {

/// The first byte of `text` that does not belong to well-formed UTF-8 (overlong forms, surrogates and values
/// above U+10FFFF count as malformed), or std::string_view::npos when all of it is well formed.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// Reads one code point at `position` and moves past it. REQUIRES: well-formed UTF-8, position < text.size().
char32_t next_code_point(std::string_view text, std::size_t& position) noexcept;

/// Appends one code point as UTF-8. REQUIRES: code_point <= U+10FFFF.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace ranktune::core
