#include "ranktune/launch/line_splitter.h"

#include <algorithm>

namespace ranktune::launch {
namespace {

/// Where to cut `text` at or before `limit`: not inside a UTF-8 sequence, unless it is none.
std::size_t cut_at(std::string_view text, std::size_t limit) {
  std::size_t cut = limit;
  while (cut > 0 && limit - cut < 3 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  const bool sequence = cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) != 0x80;
  return sequence ? cut : limit;
}

}  // namespace

void LineSplitter::add(std::string_view bytes, const Emit& emit) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    add_part(bytes.substr(0, end), emit);
    if (end == bytes.size()) return;
    if (bytes[end] == '\n')
      end_line(emit);
    else
      returned_ = true;
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Emit& emit) {
  if (!line_.empty() || overwritten_) end_line(emit);
}

std::string LineSplitter::new_progress() {
  if (!overwritten_ || line_.empty() || line_ == shown_) return "";
  shown_ = line_;
  return line_;
}

void LineSplitter::add_part(std::string_view part, const Emit& emit) {
  if (part.empty()) return;
  if (returned_) {
    // Only text replaces what stood there: "done\r\n" is the line "done".
    overwritten_ = overwritten_ || !line_.empty();
    line_.clear();
    returned_ = false;
  }
  line_ += part;
  std::string_view rest = line_;
  while (rest.size() > longest_) {
    const std::size_t cut = cut_at(rest, longest_);
    emit(rest.substr(0, cut));
    rest.remove_prefix(cut);
  }
  if (rest.size() < line_.size()) line_ = std::string(rest);
}

void LineSplitter::end_line(const Emit& emit) {
  if (line_.empty() || line_ != shown_) emit(line_);
  line_.clear();
  shown_.clear();
  returned_ = false;
  overwritten_ = false;
}

}  // namespace ranktune::launch
