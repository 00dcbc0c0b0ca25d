#include "ranktune/text/post_processor.h"

#include <algorithm>
#include <utility>

namespace ranktune::text {

std::size_t count_special(const Template& layout) {
  std::size_t count = 0;
  for (const TemplatePiece& piece : layout) count += piece.special_ids.size();
  return count;
}

void apply_template(const Template& layout, const std::vector<std::int32_t>& first,
                    const std::vector<std::int32_t>& second, Encoding& out) {
  out.ids.clear();
  out.type_ids.clear();
  for (const TemplatePiece& piece : layout) {
    const auto& ids = piece.kind == TemplatePiece::Kind::kFirst    ? first
                      : piece.kind == TemplatePiece::Kind::kSecond ? second
                                                                   : piece.special_ids;
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    out.type_ids.resize(out.ids.size(), piece.type_id);
  }
}

PostProcessor bert_post_processor(std::int32_t cls_id, std::int32_t sep_id) {
  using Kind = TemplatePiece::Kind;
  const TemplatePiece cls{Kind::kSpecial, {cls_id}, 0};
  const TemplatePiece sep{Kind::kSpecial, {sep_id}, 0};
  const TemplatePiece second_sep{Kind::kSpecial, {sep_id}, 1};
  const TemplatePiece first{Kind::kFirst, {}, 0};
  const TemplatePiece second{Kind::kSecond, {}, 1};
  return {{cls, first, sep}, {cls, first, sep, second, second_sep}};
}

void truncate(std::vector<std::int32_t>& ids, std::size_t budget, TruncationSide side) {
  if (ids.size() <= budget) return;
  if (side == TruncationSide::kLeft)
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(budget));
  else
    ids.resize(budget);
}

void truncate_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t budget,
                   TruncationSide side) {
  if (first.size() + second.size() <= budget) return;
  const bool first_is_longer = first.size() > second.size();
  std::size_t shorter = std::min(first.size(), second.size());
  std::size_t longer = shorter > budget ? shorter : std::max(shorter, budget - shorter);
  if (shorter + longer > budget) {
    shorter = budget / 2;
    longer = budget - shorter;
  }
  truncate(first, first_is_longer ? longer : shorter, side);
  truncate(second, first_is_longer ? shorter : longer, side);
}

}  // namespace ranktune::text
