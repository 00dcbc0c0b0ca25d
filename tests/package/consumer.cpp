// What somebody else's program may do with ranktune: turn text into token ids, choose an order, read rows.
// Run with a model folder as argument.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/sampling/sampler.h"
#include "ranktune/text/tokenizer.h"

#ifdef WITH_DATA
#include "ranktune/data/table.h"
#endif
#ifdef WITH_MODELS
bool model_answers(const std::filesystem::path& folder);
#endif

namespace {

bool text_becomes_ids(const std::filesystem::path& folder) {
  const auto tokenizer = ranktune::text::load_tokenizer(folder);
  ranktune::text::Encoding encoding;
  tokenizer->encode("good, very", std::nullopt, 16, encoding);
  return encoding.ids.size() >= 3 && encoding.ids.size() == encoding.type_ids.size();
}

#ifdef WITH_DATA
bool rows_are_read() {
  const auto table =
      ranktune::data::parse_table("text,label\n\"good, very\",1\nbad,0\n", ranktune::data::TableFormat::csv);
  return table.rows() == 2 && table.cell(0, 0).text == "good, very";
}
#endif

bool order_is_that_of_the_trainer() {
  // torch.randperm(10) after manual_seed(42)
  const std::vector<std::int64_t> expected{2, 6, 1, 8, 4, 5, 0, 9, 3, 7};
  return ranktune::sampling::RandomSampler(10, 42).order(0) == expected;
}

bool errors_can_be_caught() {
  try {
    ranktune::text::load_tokenizer("no_such_folder");
  } catch (const ranktune::Error&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    bool right = text_becomes_ids(argv[1]) && order_is_that_of_the_trainer() && errors_can_be_caught();
#ifdef WITH_DATA
    right = right && rows_are_read();
#endif
#ifdef WITH_MODELS
    right = right && model_answers(argv[1]);
#endif
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
