#include "profiler/importers/json_tokens.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "profiler/importers/kineto_stacks.h"
#include "tests/profiler/importers/text_input.h"

namespace vramscope::importers {
namespace {

using Token = JsonTokens::Token;

struct Read {
  std::vector<Token> tokens;
  std::vector<std::string> texts;
  absl::Status status;
};

Read All(std::string text, size_t chunk, std::string_view head = "") {
  TextInput input(std::move(text), chunk);
  JsonTokens json(input, head, nullptr);
  Read read;
  while (true) {
    const Token token = json.Next();
    read.tokens.push_back(token);
    read.texts.emplace_back(json.text());
    if (token == JsonTokens::kEnd || token == JsonTokens::kError) break;
  }
  read.status = json.status();
  return read;
}

TEST(JsonTokens, ReadsTokensAcrossChunks) {
  const std::string text =
      R"( {"a\"b\\c\u00e9\n" : [-12.5e3, true,null, 7 ,"plain"], "k": NaN, "": -Infinity})";
  for (const size_t chunk : {1, 2, 3, 7, 100}) {
    const Read read = All(text, chunk);
    EXPECT_EQ(
        read.tokens,
        (std::vector<Token>{JsonTokens::kBeginObject, JsonTokens::kString, JsonTokens::kBeginArray,
                            JsonTokens::kNumber, JsonTokens::kLiteral, JsonTokens::kLiteral,
                            JsonTokens::kNumber, JsonTokens::kString, JsonTokens::kEndArray,
                            JsonTokens::kString, JsonTokens::kLiteral, JsonTokens::kString,
                            JsonTokens::kLiteral, JsonTokens::kEndObject, JsonTokens::kEnd}));
    EXPECT_EQ(read.texts[1], "a\"b\\c\xc3\xa9\n");
    EXPECT_EQ(read.texts[3], "-12.5e3");
    EXPECT_EQ(read.texts[7], "plain");
    EXPECT_TRUE(read.status.ok());
  }
}

TEST(JsonTokens, ReadsTheHeadFirst) {
  const Read read = All("lo\", 42]", 2, "[\"hel");
  EXPECT_EQ(read.texts[1], "hello");
  EXPECT_EQ(read.texts[2], "42");
}

TEST(JsonTokens, ErrorsReportTheByteOffset) {
  const Read cut = All("[1, \"abc", 3);
  EXPECT_EQ(cut.tokens.back(), JsonTokens::kError);
  EXPECT_EQ(cut.status.message(), "byte 8: a string does not end");
  const Read odd = All("[1, \x01]", 3);
  EXPECT_EQ(odd.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(odd.status.message().substr(0, 6), "byte 4");
}

TEST(JsonTokens, TruncatesLongStrings) {
  const Read read = All("[\"" + std::string(3 << 20, 'x') + "\", 5]", 1 << 16);
  EXPECT_EQ(read.texts[1].size(), JsonTokens::kMostText);
  EXPECT_EQ(read.texts[2], "5");
}

TEST(JsonTokens, SkipsDeepNestingWithoutRecursion) {
  TextInput input(std::string(1 << 20, '[') + std::string(1 << 20, ']') + "7", 1 << 16);
  JsonTokens json(input, "", nullptr);
  EXPECT_TRUE(json.Skip(json.Next()));
  EXPECT_EQ(json.Next(), JsonTokens::kNumber);
}

TEST(KinetoNumbers, ParsesThousandthsExactly) {
  EXPECT_EQ(ParseThousandths("4433784074251.953"), 4433784074251953);
  EXPECT_EQ(ParseThousandths("1700000000000000.123"), 1700000000000000123);
  EXPECT_EQ(ParseThousandths("12"), 12000);
  EXPECT_EQ(ParseThousandths(" -1.5 "), -1500);
  EXPECT_EQ(ParseThousandths("0.0019"), 1);
  EXPECT_EQ(ParseThousandths("1e3"), 1000000);
  EXPECT_EQ(ParseThousandths("9223372036854775807"), std::nullopt);
  EXPECT_EQ(ParseThousandths("abc"), std::nullopt);
  EXPECT_EQ(ParseThousandths(""), std::nullopt);
  EXPECT_EQ(ParseThousandths("1e999"), std::nullopt);
}

TEST(KinetoNumbers, ParsesIntegers) {
  EXPECT_EQ(ParseInteger("-512"), -512);
  EXPECT_EQ(ParseInteger("0x7f00"), 0x7f00);
  EXPECT_EQ(ParseInteger("18446744073709551615"), -1);  // an unsigned 64-bit address
  EXPECT_EQ(ParseInteger("512.0"), 512);
  EXPECT_EQ(ParseInteger("0xZZ"), std::nullopt);
  EXPECT_EQ(ParseInteger(""), std::nullopt);
}

TEST(KinetoNumbers, SplitsNamesOfPythonFunctions) {
  const PythonName name = SplitPythonName("torch/nn/modules/linear.py(114): forward");
  EXPECT_EQ(name.file, "torch/nn/modules/linear.py");
  EXPECT_EQ(name.line, 114u);
  EXPECT_EQ(name.function, "forward");
  for (const char* whole : {"<built-in method mm>", "a(x): f", "(1): f", "f(1)", ""}) {
    EXPECT_EQ(SplitPythonName(whole).function, whole);
    EXPECT_EQ(SplitPythonName(whole).file, "");
  }
}

}  // namespace
}  // namespace vramscope::importers
