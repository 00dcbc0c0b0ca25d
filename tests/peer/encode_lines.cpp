// Reads requests as JSON lines and writes token ids, for tokenizer_peer_test.py.
//   encode_lines FOLDER [MAX_LENGTH] < requests > ids
// A request is "text" or ["text", "pair"]. A line of output is the ids and, for a pair, " |" and the segment
// ids.
#include <charconv>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ranktune/core/error.h"
#include "ranktune/text/tokenizer.h"

namespace {

void append(std::string& line, const std::vector<std::int32_t>& numbers) {
  for (const std::int32_t number : numbers) {
    if (!line.empty()) line += ' ';
    line += std::to_string(number);
  }
}

std::string answer(const ranktune::text::Tokenizer& tokenizer, const std::string& request,
                   std::int64_t max_length, ranktune::text::Encoding& encoding) {
  const nlohmann::json json = nlohmann::json::parse(request);
  std::string line;
  if (json.is_string()) {
    tokenizer.encode(json.get_ref<const std::string&>(), std::nullopt, max_length, encoding);
    append(line, encoding.ids);
  } else {
    tokenizer.encode(json.at(0).get_ref<const std::string&>(), json.at(1).get_ref<const std::string&>(),
                     max_length, encoding);
    append(line, encoding.ids);
    line += " |";
    append(line, encoding.type_ids);
  }
  return line + '\n';
}

void run(int argc, char** argv) {
  if (argc < 2) throw ranktune::UsageError("usage: encode_lines FOLDER [MAX_LENGTH]");
  const auto tokenizer = ranktune::text::load_tokenizer(argv[1]);
  const std::int64_t max_length = argc > 2 ? std::stoll(argv[2]) : 1'000'000;
  ranktune::text::Encoding encoding;
  std::string request;
  while (std::getline(std::cin, request)) std::cout << answer(*tokenizer, request, max_length, encoding);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}
