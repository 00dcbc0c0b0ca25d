#include "ranktune/text/bert_normalizer.h"

#include <algorithm>

#include "ranktune/core/utf8.h"

namespace ranktune::text {

BertNormalizer::BertNormalizer(const CharacterTable& table, const BertNormalizerOptions& options)
    : table_(table),
      clean_text_(options.clean_text),
      handle_chinese_chars_(options.handle_chinese_chars),
      strip_accents_(options.strip_accents.value_or(options.lowercase)),
      lowercase_(options.lowercase) {
  for (char32_t c = 0; c < ascii_.size(); ++c) {
    std::string text;
    Marks marks;
    append(c, text, marks);
    ascii_[c] = {text.empty() ? '\0' : text.front(), !text.empty()};
  }
}

void BertNormalizer::normalize(std::string_view text, std::string& out) const {
  Marks marks;
  out.reserve(out.size() + text.size() + text.size() / 4);
  std::size_t position = 0;
  while (position < text.size()) {
    if (static_cast<unsigned char>(text[position]) < 0x80) {
      // Most ASCII characters stop reordering; those that clean_text drops do not even take part.
      if (!marks.empty() && ascii_[static_cast<unsigned char>(text[position])].kept) flush(marks, out);
      position += append_ascii(marks.empty() ? text.substr(position) : text.substr(position, 1), out);
    } else {
      append(core::next_code_point(text, position), out, marks);
    }
  }
  flush(marks, out);
}

/// Handles the ASCII characters at the start of `text` and returns their number.
std::size_t BertNormalizer::append_ascii(std::string_view text, std::string& out) const {
  const std::size_t old_size = out.size();
  std::size_t length = 0;
  while (length < text.size() && static_cast<unsigned char>(text[length]) < 0x80) ++length;
  out.resize(old_size + length);
  char* end = out.data() + old_size;
  for (std::size_t i = 0; i < length; ++i) {
    const Ascii& entry = ascii_[static_cast<unsigned char>(text[i])];
    *end = entry.text;
    end += entry.kept;
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
  return length;
}

void BertNormalizer::append(char32_t code_point, std::string& out, Marks& marks) const {
  const std::uint8_t bits = table_.bits(code_point);
  if (clean_text_ && (bits & kRemoved)) return;
  if (clean_text_ && (bits & kSpace)) {
    flush(marks, out);
    out += ' ';
    return;
  }
  const bool spaced = handle_chinese_chars_ && (bits & kCjk);
  if (spaced) {
    flush(marks, out);
    out += ' ';
  }
  if (strip_accents_) {
    append_stripped(code_point, bits, out, marks);
  } else {
    append_lowered(code_point, out);
  }
  if (spaced) {
    flush(marks, out);
    out += ' ';
  }
}

void BertNormalizer::append_stripped(char32_t code_point, std::uint8_t bits, std::string& out,
                                     Marks& marks) const {
  if (!(bits & kMoving)) flush(marks, out);
  const Mapped kept = bits & kStripChanges ? CharacterTable::strip(code_point) : Mapped{{code_point}, 1};
  for (std::size_t i = 0; i < kept.size; ++i) {
    const char32_t c = kept.code_points[i];
    const std::uint8_t order = table_.bits(c) & kMoving ? CharacterTable::order(c) : 0;
    if (order == 0) {
      append_lowered(c, out);
    } else {
      marks.emplace_back(order, c);
    }
  }
}

void BertNormalizer::append_lowered(char32_t code_point, std::string& out) const {
  if (!lowercase_ || !(table_.bits(code_point) & kLowerChanges)) return core::append_utf8(out, code_point);
  const Mapped lower = CharacterTable::lower(code_point);
  for (std::size_t i = 0; i < lower.size; ++i) core::append_utf8(out, lower.code_points[i]);
}

void BertNormalizer::flush(Marks& marks, std::string& out) const {
  if (marks.empty()) return;
  std::ranges::stable_sort(marks, {}, &Marks::value_type::first);
  for (const auto& [order, mark] : marks) append_lowered(mark, out);
  marks.clear();
}

}  // namespace ranktune::text
