// Reads JSON as a stream of tokens; only the current token is kept. Commas and colons are not
// checked, because some files lack them; ambiguous input is an error. Internal to this folder.
//
//   JsonTokens json(input, head, nullptr);
//   for (auto t = json.Next(); t != JsonTokens::kEnd && t != JsonTokens::kError; t = json.Next())
//     ...
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/trace/input.h"

namespace vramscope::importers {

class JsonTokens {
 public:
  enum Token : uint8_t {
    kEnd,
    kError,  // see status()
    kBeginObject,
    kEndObject,
    kBeginArray,
    kEndArray,
    kString,
    kNumber,
    kLiteral,  // true, false, null, NaN, Infinity
  };
  // Longer strings are truncated to this length.
  static constexpr size_t kMostText = size_t{1} << 20;

  // `head`: bytes already read from the input. `refilled` is called after each read from the
  // input; if it returns false, reading ends with kCancelled.
  JsonTokens(trace::InputStream& input, std::string_view head, std::function<bool()> refilled);

  Token Next();
  // Skips the rest of the value whose first token is `first`. Returns false at kError or kEnd.
  bool Skip(Token first);

  // The text of the last token, valid until the next call of Next(): a string with its escapes
  // decoded, or a number as written.
  std::string_view text() const { return text_; }
  uint64_t offset() const { return token_at_; }  // position of the token in the decompressed bytes
  const absl::Status& status() const { return status_; }
  // Whether the error means that the input or its compressed data is truncated.
  bool ended() const { return cut_; }

 private:
  bool Refill();
  bool More() { return at_ < size_ || Refill(); }
  Token Fail(std::string_view what);
  Token String();
  bool Escape();
  std::optional<uint32_t> Hex4();
  void AppendUtf8(uint32_t code);
  void Keep(std::string_view part);
  Token Word(Token token);

  trace::InputStream& input_;
  std::function<bool()> refilled_;
  std::string buffer_;
  size_t at_ = 0, size_ = 0;
  uint64_t before_ = 0;  // number of bytes before the buffer
  uint64_t token_at_ = 0;
  std::string scratch_;
  std::string_view text_;
  bool ended_ = false, cut_ = false;
  absl::Status status_;
};

// Parses a decimal number exactly, as a count of thousandths: "123.456" is 123456. (A double
// cannot represent absolute times exactly.) Drops decimals after the third. Accepts quoted
// numbers, too.
std::optional<int64_t> ParseThousandths(std::string_view text);
// Parses integers, "0x7f..", and the integer part of decimal numbers.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace vramscope::importers
