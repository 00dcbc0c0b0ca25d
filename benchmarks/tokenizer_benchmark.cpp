// How fast texts become token ids, on one thread.
//   tokenizer_benchmark [--benchmark_... flags] FOLDER FILE...    (a tokenizer's folder; files with one text
//   a line)
#include <benchmark/benchmark.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "ranktune/core/error.h"
#include "ranktune/core/files.h"
#include "ranktune/text/tokenizer.h"

namespace {

std::vector<std::string> read_lines(const std::string& file) {
  std::istringstream stream(ranktune::core::read_file(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void encode_lines(benchmark::State& state, const ranktune::text::Tokenizer& tokenizer,
                  const std::vector<std::string>& lines) {
  ranktune::text::Encoding encoding;
  std::int64_t bytes = 0;
  std::int64_t ids = 0;
  for (auto _ : state) {
    for (const std::string& line : lines) {
      tokenizer.encode(line, std::nullopt, 1'000'000, encoding);
      bytes += static_cast<std::int64_t>(line.size());
      ids += static_cast<std::int64_t>(encoding.ids.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.counters["ids"] = benchmark::Counter(static_cast<double>(ids), benchmark::Counter::kIsRate);
}

void load(benchmark::State& state, const std::string& folder) {
  for (auto _ : state) benchmark::DoNotOptimize(ranktune::text::load_tokenizer(folder));
}

void run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 3) throw ranktune::UsageError("usage: tokenizer_benchmark [FLAGS] FOLDER FILE...");
  const std::string folder = argv[1];
  const auto tokenizer = ranktune::text::load_tokenizer(folder);
  for (int i = 2; i < argc; ++i) {
    const std::string name = "encode/" + std::filesystem::path(argv[i]).stem().string();
    benchmark::RegisterBenchmark(name.c_str(), [&tokenizer,
                                                lines = read_lines(argv[i])](benchmark::State& state) {
      encode_lines(state, *tokenizer, lines);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("load", load, folder)->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
