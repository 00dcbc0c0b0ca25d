#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranktune/core/logger.h"
#include "ranktune/data/table.h"

/// Which columns of a table hold the text and the label.
namespace ranktune::data {

/// Columns that make up a row's text, by name, so that all files of a run use the same ones.
struct TextColumns {
  std::vector<std::string> names;        ///< one column; two are a pair; any number with a delimiter
  std::optional<std::string> delimiter;  ///< given: the columns are joined with it into one text

  bool is_pair() const noexcept { return names.size() == 2 && !delimiter; }
};

/// The place of a column. `flag` is the option that names it, for the message.
/// THROWS: DataError that names the nearest column and lists all of them.
std::size_t require_column(const Table& table, std::string_view column_name, std::string_view flag);

/// `wanted` if it names columns. Otherwise, as run_glue does: sentence1 and sentence2, or sentence, or text,
/// or else the first two columns that can be text (one, if there is no second): not the label, no column
/// without a name, no row number or key (id, idx, index, and names that end in such a word: tweet_id, "#1
/// ID"). A default choice is told to the logger. With a delimiter and no wanted columns, the default choice
/// is joined. THROWS: DataError for a missing column, UsageError for a label among the texts, for a column
/// named twice and for three or more columns without a delimiter.
TextColumns choose_text_columns(const Table& table, const std::vector<std::string>& wanted,
                                const std::optional<std::string>& delimiter, std::string_view label_column,
                                core::Logger& logger);

}  // namespace ranktune::data
