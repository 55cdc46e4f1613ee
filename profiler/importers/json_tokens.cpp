#include "profiler/importers/json_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"

namespace vramscope::importers {
namespace {

constexpr size_t kBuffer = size_t{1} << 18;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' ||
         c == '-' || c == '_';
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> Rounded(std::optional<double> value) {
  if (!value || std::abs(*value) > 9e18) return std::nullopt;
  return static_cast<int64_t>(std::llround(*value));
}

// Removes the blanks around a number, and its plus sign.
std::string_view NumberIn(std::string_view text) {
  text = base::Trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

}  // namespace

JsonTokens::JsonTokens(trace::InputStream& input, std::string_view head,
                       std::function<bool()> refilled)
    : input_(input), refilled_(std::move(refilled)), buffer_(head), size_(head.size()) {}

bool JsonTokens::Refill() {
  if (ended_) return false;
  if (refilled_ && !refilled_()) {
    ended_ = true;
    status_ = absl::CancelledError(i18n::Text("reading was cancelled"));
    return false;
  }
  before_ += size_;
  at_ = size_ = 0;
  buffer_.resize(kBuffer);
  absl::StatusOr<size_t> n = input_.Read(buffer_.data(), buffer_.size());
  if (!n.ok()) status_ = n.status();
  cut_ = n.ok() ? *n == 0 : absl::IsDataLoss(n.status());
  size_ = n.ok() ? *n : 0;
  ended_ = size_ == 0;
  return size_ > 0;
}

JsonTokens::Token JsonTokens::Fail(std::string_view what) {
  if (status_.ok()) status_ = absl::DataLossError(i18n::Format("byte {}: {}", before_ + at_, what));
  ended_ = true;
  at_ = size_ = 0;
  return kError;
}

JsonTokens::Token JsonTokens::Next() {
  text_ = {};
  while (true) {
    if (!More()) {
      token_at_ = before_ + at_;
      return status_.ok() ? kEnd : kError;
    }
    const char c = buffer_[at_];
    if (!IsSpace(c) && c != ',' && c != ':') break;
    ++at_;
  }
  token_at_ = before_ + at_;
  const char c = buffer_[at_];
  switch (c) {
    case '{':
      ++at_;
      return kBeginObject;
    case '}':
      ++at_;
      return kEndObject;
    case '[':
      ++at_;
      return kBeginArray;
    case ']':
      ++at_;
      return kEndArray;
    case '"':
      ++at_;
      return String();
    default:
      break;
  }
  if (IsDigit(c)) return Word(kNumber);
  if (c == '-' || IsWord(c)) {
    const Token token = Word(kNumber);
    if (token != kNumber) return token;
    const bool number = text_.find_first_of("0123456789") == (c == '-' ? 1u : 0u);
    return number ? kNumber : kLiteral;
  }
  return Fail(i18n::Format("not JSON (character {:#04x})", static_cast<uint8_t>(c)));
}

JsonTokens::Token JsonTokens::Word(Token token) {
  const size_t begin = at_;
  while (at_ < size_ && IsWord(buffer_[at_])) ++at_;
  if (at_ < size_) {
    text_ = std::string_view(buffer_).substr(begin, at_ - begin);
    return token;
  }
  scratch_.assign(buffer_, begin, at_ - begin);
  while (More() && IsWord(buffer_[at_])) {
    if (scratch_.size() == kMostText)
      return Fail(i18n::Text("a number is too long or not terminated"));
    scratch_ += buffer_[at_++];
  }
  text_ = scratch_;
  return token;
}

void JsonTokens::Keep(std::string_view part) {
  scratch_ += part.substr(0, kMostText - std::min(kMostText, scratch_.size()));
}

JsonTokens::Token JsonTokens::String() {
  bool copied = false;
  scratch_.clear();
  while (true) {
    const size_t begin = at_;
    const char* data = buffer_.data();
    size_t end = begin;
    while (end < size_ && data[end] != '"' && data[end] != '\\') ++end;
    const std::string_view part(data + begin, end - begin);
    at_ = end;
    if (at_ < size_ && data[at_] == '"') {
      ++at_;
      if (copied) {
        Keep(part);
        text_ = scratch_;
      } else {
        text_ = part.substr(0, kMostText);
      }
      return kString;
    }
    Keep(part);
    copied = true;
    if (at_ < size_) {
      ++at_;  // skip the backslash
      if (!Escape()) return Fail(i18n::Text("a string does not end"));
    } else if (!More()) {
      return Fail(i18n::Text("a string does not end"));
    }
  }
}

std::optional<uint32_t> JsonTokens::Hex4() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    if (!More()) return std::nullopt;
    const char c = buffer_[at_];
    uint32_t digit = 16;
    if (IsDigit(c)) digit = static_cast<uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
    if (digit == 16) return 0xFFFD;
    code = code * 16 + digit;
    ++at_;
  }
  return code;
}

void JsonTokens::AppendUtf8(uint32_t code) {
  char bytes[4];
  size_t n = 0;
  if (code < 0x80) {
    bytes[n++] = static_cast<char>(code);
  } else if (code < 0x800) {
    bytes[n++] = static_cast<char>(0xC0 | code >> 6);
    bytes[n++] = static_cast<char>(0x80 | (code & 0x3F));
  } else {
    bytes[n++] = static_cast<char>(0xE0 | code >> 12);
    bytes[n++] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
    bytes[n++] = static_cast<char>(0x80 | (code & 0x3F));
  }
  Keep({bytes, n});
}

// Parses the escape after a backslash. Returns false if the input ends. An unknown escape is kept
// as the character itself.
bool JsonTokens::Escape() {
  if (!More()) return false;
  const char c = buffer_[at_++];
  switch (c) {
    case 'n':
      Keep("\n");
      return true;
    case 't':
      Keep("\t");
      return true;
    case 'r':
    case 'b':
    case 'f':
      return true;
    case 'u': {
      const std::optional<uint32_t> code = Hex4();
      if (!code) return false;
      // Surrogate pairs are not decoded; names rarely contain characters that need them.
      AppendUtf8(*code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
      return true;
    }
    default:
      Keep({&c, 1});
      return true;
  }
}

bool JsonTokens::Skip(Token first) {
  if (first == kEnd || first == kError) return false;
  int64_t depth = first == kBeginObject || first == kBeginArray ? 1 : 0;
  while (depth > 0) {
    const Token token = Next();
    if (token == kEnd || token == kError) return false;
    if (token == kBeginObject || token == kBeginArray) ++depth;
    if (token == kEndObject || token == kEndArray) --depth;
  }
  return true;
}

std::optional<int64_t> ParseThousandths(std::string_view text) {
  text = NumberIn(text);
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  int64_t value = 0;
  size_t i = 0;
  for (; i < digits.size() && IsDigit(digits[i]); ++i) {
    if (value > (INT64_MAX / 1000 - 10) / 10) return std::nullopt;
    value = value * 10 + (digits[i] - '0');
  }
  if (i == 0 && !digits.starts_with('.')) return std::nullopt;
  int decimals = 0;
  if (i < digits.size() && digits[i] == '.') {
    for (++i; i < digits.size() && IsDigit(digits[i]); ++i) {
      if (decimals == 3) continue;
      value = value * 10 + (digits[i] - '0');
      ++decimals;
    }
  }
  if (i < digits.size()) {  // an exponent, or not a number
    const std::optional<double> number = ParseDouble(text);
    return number ? Rounded(*number * 1000) : std::nullopt;
  }
  for (; decimals < 3; ++decimals) value *= 10;
  return negative ? -value : value;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  text = NumberIn(text);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return static_cast<int64_t>(value);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  uint64_t large = 0;  // for addresses beyond 2^63
  const auto [last, large_error] = std::from_chars(text.data(), text.data() + text.size(), large);
  if (large_error == std::errc() && last == text.data() + text.size())
    return static_cast<int64_t>(large);
  return Rounded(ParseDouble(text));
}

}  // namespace vramscope::importers
