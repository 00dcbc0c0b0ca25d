#include "ranktune/text/tokenizer.h"

#include <string>

#include "ranktune/core/error.h"
#include "ranktune/text/bert_tokenizer.h"
#include "ranktune/text/tokenizer_files.h"

namespace ranktune::text {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& folder) {
  struct Other {
    const char* file;
    const char* kind;
  };
  for (const Other& other : {Other{"merges.txt", "BPE"}, Other{"spiece.model", "Unigram"},
                             Other{"spm.model", "Unigram"}, Other{"sentencepiece.bpe.model", "Unigram"}})
    if (std::filesystem::exists(folder / other.file))
      throw DataError({(folder / other.file).string()},
                      std::string("the tokenizer is of the kind ") + other.kind +
                          ", and only WordPiece can be read: ranktune needs a BERT tokenizer here");
  if (!std::filesystem::is_directory(folder))
    throw DataError({folder.string()}, "no such folder: give the folder of a model");
  throw DataError({folder.string()},
                  "no tokenizer in this folder: it needs tokenizer.json or vocab.txt beside the model");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  const std::filesystem::path json = folder / "tokenizer.json";
  const std::filesystem::path vocabulary = folder / "vocab.txt";
  if (std::filesystem::exists(json))
    return std::make_unique<BertTokenizer>(read_tokenizer_json(json, read_tokenizer_config(folder)));
  if (std::filesystem::exists(vocabulary))
    return std::make_unique<BertTokenizer>(read_vocabulary_file(vocabulary, read_tokenizer_config(folder)));
  refuse(folder);
}

}  // namespace ranktune::text
