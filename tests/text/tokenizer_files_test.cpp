// Which files make a tokenizer, and what is said of those that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ranktune/core/error.h"
#include "text/small_tokenizer.h"

namespace ranktune::text {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using tests::encode;
using tests::Ids;
using tests::inner_ids;
using tests::small_tokenizer_json;
using tests::TemporaryFolder;

constexpr const char* kVocabulary = "[PAD]\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ne\nE\né\nÉ\n中中\n";

TEST(VocabularyFile, NumbersLines) {
  const TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->vocab_size(), 11);
  EXPECT_EQ(tokenizer->model_max_length(), std::nullopt);
  EXPECT_EQ(encode(*tokenizer, "É e").ids, (Ids{3, 6, 6, 4}));
  EXPECT_EQ(inner_ids(*tokenizer, "e[MASK] [PAD]"), (Ids{6, 5, 0}));
  EXPECT_EQ(inner_ids(*tokenizer, "[unused0]"), (Ids{2, 2, 2}))
      << "only special tokens are found in the text";
  const Encoding pair = encode(*tokenizer, "e", "e");
  EXPECT_EQ(pair.ids, (Ids{3, 6, 4, 6, 4}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 1, 1}));
}

TEST(VocabularyFile, MayEndLinesWithCrLfAndLackTheLastLineBreak) {
  const TemporaryFolder folder;
  folder.file("vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n##b\r\na\r\nc");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->vocab_size(), 7);
  EXPECT_EQ(inner_ids(*tokenizer, "a ab c"), (Ids{5, 5, 4, 6})) << "of a repeated token the last line counts";
}

TEST(VocabularyFile, TakesOptionsFromTheConfig) {
  const TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto ids = [&](const json& config, std::string_view text) {
    folder.file("tokenizer_config.json", config.dump());
    return inner_ids(*load_tokenizer(folder.path()), text);
  };
  EXPECT_EQ(ids({{"do_lower_case", false}}, "É E"), (Ids{9, 7}));
  EXPECT_EQ(ids({{"do_lower_case", false}, {"strip_accents", true}}, "É E"), (Ids{7, 7}));
  EXPECT_EQ(ids({{"strip_accents", false}}, "É"), (Ids{8}));
  EXPECT_EQ(ids({{"strip_accents", nullptr}}, "É"), (Ids{6}));
  EXPECT_EQ(ids(json::object(), "中中"), (Ids{2, 2}));
  EXPECT_EQ(ids({{"tokenize_chinese_chars", false}}, "中中"), (Ids{10}));
  EXPECT_EQ(ids({{"mask_token", "[unused0]"}}, "[MASK][unused0]"), (Ids{2, 2, 2, 1}));
  EXPECT_EQ(ids({{"added_tokens_decoder", {{"20", {{"content", "<x>"}, {"special", true}}}}}}, "e<x>"),
            (Ids{6, 20}));
}

TEST(TokenizerConfig, GivesTheLongestInput) {
  const TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto longest = [&](const char* config) {
    folder.file("tokenizer_config.json", config);
    return load_tokenizer(folder.path())->model_max_length();
  };
  EXPECT_EQ(longest(R"({"model_max_length": 512})"), 512);
  EXPECT_EQ(longest(R"({"model_max_length": 1000000000000000019884624838656})"), std::nullopt);
  EXPECT_EQ(longest(R"({"unk_token": {"content": "[UNK]"}})"), std::nullopt);
}

TEST(TokenizerJson, IgnoresPaddingAndTruncationOfItsLastUse) {
  const auto tokenizer =
      tests::load(small_tokenizer_json({"a"}));  // the file says 3 at most, and pads to 128
  EXPECT_EQ(encode(*tokenizer, "a a a").ids, (Ids{2, 4, 4, 4, 3}));
}

TEST(TokenizerJson, ReadsTheOtherPostProcessors) {
  auto file = small_tokenizer_json({"a"});
  file["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}};
  EXPECT_EQ(encode(*tests::load(file), "a", "a").ids, (Ids{2, 4, 3, 4, 3}));
  EXPECT_EQ(encode(*tests::load(file), "a", "a").type_ids, (Ids{0, 0, 0, 1, 1}));
  file["post_processor"] = nullptr;
  EXPECT_EQ(encode(*tests::load(file), "a", "a").ids, (Ids{4, 4}));
  EXPECT_EQ(encode(*tests::load(file), "a", "a").type_ids, (Ids{0, 1}));
}

/// The message of the DataError that loading gives.
std::string complaint(const TemporaryFolder& folder) {
  try {
    load_tokenizer(folder.path());
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

std::string complaint(const std::function<void(json&)>& damage) {
  const TemporaryFolder folder;
  json file = small_tokenizer_json({"a"});
  damage(file);
  folder.file("tokenizer.json", file.dump());
  return complaint(folder);
}

TEST(TokenizerErrors, NameWhatTheVocabularyLacks) {
  for (const std::string token : {"[UNK]", "[CLS]", "[SEP]"}) {
    const TemporaryFolder folder;
    std::string lines = kVocabulary;
    lines.replace(lines.find(token), token.size(), "x");
    folder.file("vocab.txt", lines);
    EXPECT_THAT(complaint(folder), AllOf(HasSubstr("vocab.txt: "), HasSubstr("no line " + token)));
    const auto erase = [&](json& file) {
      file["model"]["vocab"].erase(token);
      file["added_tokens"] = json::array();
    };
    EXPECT_THAT(complaint(erase), AllOf(HasSubstr("tokenizer.json: "), HasSubstr("has no " + token)));
  }
}

TEST(TokenizerErrors, NameTheKindThatCannotBeRead) {
  EXPECT_THAT(complaint([](json& file) { file["model"]["type"] = "BPE"; }),
              HasSubstr("'model.type' is 'BPE'"));
  EXPECT_THAT(complaint([](json& file) {
                file["model"] = {{"vocab", json::array()}, {"unk_id", 0}};
              }),
              HasSubstr("'Unigram'"));
  EXPECT_THAT(complaint([](json& file) { file["normalizer"]["type"] = "NFC"; }),
              HasSubstr("'normalizer.type' is 'NFC'"));
  EXPECT_THAT(complaint([](json& file) { file["pre_tokenizer"]["type"] = "ByteLevel"; }),
              HasSubstr("'pre_tokenizer.type' is 'ByteLevel'"));
  EXPECT_THAT(complaint([](json& file) { file["post_processor"]["type"] = "ByteLevel"; }),
              HasSubstr("'post_processor.type' is 'ByteLevel'"));
}

TEST(TokenizerErrors, NameThePlaceInDamagedFiles) {
  const TemporaryFolder folder;
  folder.file("tokenizer.json", "{\n  \"model\": {,\n}");
  EXPECT_THAT(complaint(folder), HasSubstr("tokenizer.json:2:13: "));
  EXPECT_THAT(complaint([](json& file) { file.erase("model"); }), HasSubstr("'model' is missing"));
  EXPECT_THAT(complaint([](json& file) { file["model"].erase("vocab"); }),
              HasSubstr("'model.vocab' is missing"));
  EXPECT_THAT(complaint([](json& file) { file["model"]["vocab"]["a"] = -1; }),
              HasSubstr("'model.vocab.a' must be a whole number"));
  EXPECT_THAT(complaint([](json& file) { file["added_tokens"][1].erase("content"); }),
              HasSubstr("'added_tokens[1].content' is missing"));
  EXPECT_THAT(complaint([](json& file) { file["normalizer"]["lowercase"] = "yes"; }),
              HasSubstr("'normalizer.lowercase' must be true or false"));
  EXPECT_THAT(complaint([](json& file) { file["post_processor"]["single"].erase(1); }),
              HasSubstr("'post_processor.single' must hold sequence A once"));
  EXPECT_THAT(complaint([](json& file) { file = json::array(); }),
              HasSubstr("the file must be a JSON object"));
  folder.file("tokenizer.json", small_tokenizer_json({"a"}).dump());
  folder.file("tokenizer_config.json", R"({"model_max_length": 0})");
  EXPECT_THAT(complaint(folder),
              HasSubstr("tokenizer_config.json: 'model_max_length' must be a number above 0"));
}

TEST(TokenizerErrors, NameTheLineThatIsNotUtf8) {
  const TemporaryFolder folder;
  folder.file("vocab.txt", "[UNK]\n[CLS]\nab\xFF\n");
  EXPECT_THAT(complaint(folder), HasSubstr("vocab.txt:3:3: not UTF-8"));
}

TEST(TokenizerErrors, SayWhatAFolderLacks) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint(folder), EndsWith("it needs tokenizer.json or vocab.txt beside the model"));
  folder.file("merges.txt", "");
  EXPECT_THAT(complaint(folder), HasSubstr("of the kind BPE"));
  EXPECT_THROW(load_tokenizer(folder.path() / "absent"), DataError);
}

}  // namespace
}  // namespace ranktune::text
