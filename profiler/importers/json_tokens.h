// JSON as a stream of tokens: nothing is kept but the present one. Lenient where writers are
// (commas and colons are not checked), strict about what could be misread. Internal to this folder.
//
//   JsonTokens json(input, head);
//   for (auto t = json.Next(); t != JsonTokens::kEnd && t != JsonTokens::kError; t = json.Next())
//   ...
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
    kError,  // status() says what
    kBeginObject,
    kEndObject,
    kBeginArray,
    kEndArray,
    kString,
    kNumber,
    kLiteral,  // true, false, null, NaN, Infinity
  };
  // Of a string this much is kept, the rest passed over.
  static constexpr size_t kMostText = size_t{1} << 20;

  // `head`: what has been taken from the input before. `refilled` is called every time that more is
  // read; false ends with kCancelled.
  JsonTokens(trace::InputStream& input, std::string_view head, std::function<bool()> refilled);

  Token Next();
  // Passes over the rest of the value that `first` begins. False: kError or kEnd came first.
  bool Skip(Token first);

  // Of the last token, until the next: a string without its escapes, a number as written.
  std::string_view text() const { return text_; }
  uint64_t offset() const { return token_at_; }  // where it begins, in decompressed bytes
  const absl::Status& status() const { return status_; }
  // Of an error: it is that the input ends, or that its compressed data is cut.
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
  uint64_t before_ = 0;  // bytes before the buffer
  uint64_t token_at_ = 0;
  std::string scratch_;
  std::string_view text_;
  bool ended_ = false, cut_ = false;
  absl::Status status_;
};

// "123.456" as 123456: a decimal number in thousandths, exactly (a double would not hold an
// absolute time). Digits after the third are dropped. Also what quotes enclosed.
std::optional<int64_t> ParseThousandths(std::string_view text);
// Integers; also "0x7f..", and the integer part of a decimal number.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace vramscope::importers
