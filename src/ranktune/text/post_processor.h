#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ranktune/text/tokenizer.h"

namespace ranktune::text {

/// One place of a template: the tokens of a text, or tokens that are always there.
struct TemplatePiece {
  enum class Kind { kFirst, kSecond, kSpecial };
  Kind kind = Kind::kSpecial;
  std::vector<std::int32_t> special_ids;  ///< for kSpecial
  std::int32_t type_id = 0;
};
using Template = std::vector<TemplatePiece>;

/// What surrounds one text, and two.
struct PostProcessor {
  Template single, pair;
};

/// How many ids of `layout` do not come from the texts.
std::size_t count_special(const Template& layout);

/// Fills `out` with the template and the ids of the texts in their places.
void apply_template(const Template& layout, const std::vector<std::int32_t>& first,
                    const std::vector<std::int32_t>& second, Encoding& out);

/// [CLS] A [SEP], and [CLS] A [SEP] B [SEP] with segment 1 from B on.
PostProcessor bert_post_processor(std::int32_t cls_id, std::int32_t sep_id);

/// Which end of a text that is too long goes.
enum class TruncationSide { kRight, kLeft };

/// Shortens both so that they hold at most `budget` ids together, longest first, in the split that the
/// `tokenizers` package chooses: when both are too long for their half, an odd id stays with the longer one,
/// and with the second of equals.
void truncate_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t budget,
                   TruncationSide side);

/// Shortens to `budget` ids.
void truncate(std::vector<std::int32_t>& ids, std::size_t budget, TruncationSide side);

}  // namespace ranktune::text
