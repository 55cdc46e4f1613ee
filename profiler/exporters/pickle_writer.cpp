#include "profiler/exporters/pickle_writer.h"

#include <bit>

#include "profiler/base/i18n.h"
#include "profiler/exporters/json_text.h"

namespace vramscope::exporters {
namespace {

constexpr char kProto[] = {'\x80', 4};
constexpr char kFrame = '\x95';
constexpr char kMemoize = '\x94';

}  // namespace

PickleWriter::PickleWriter(std::ostream& out) : out_(out) {
  out_.write(kProto, sizeof(kProto));
  written_ = sizeof(kProto);
}

void PickleWriter::Little(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) frame_.push_back(static_cast<char>(value >> (8 * i)));
}

void PickleWriter::Flush() {
  if (frame_.empty()) return;
  char head[9] = {kFrame};
  for (int i = 0; i < 8; ++i) head[1 + i] = static_cast<char>(uint64_t{frame_.size()} >> (8 * i));
  out_.write(head, sizeof(head));
  out_.write(frame_.data(), static_cast<std::streamsize>(frame_.size()));
  written_ += sizeof(head) + frame_.size();
  frame_.clear();
}

void PickleWriter::Int(int64_t value) {
  if (value >= 0) return Unsigned(static_cast<uint64_t>(value));
  if (value >= INT32_MIN) {
    Op('J');
    return Little(static_cast<uint64_t>(value), 4);
  }
  Op('\x8a');  // LONG1: the number of bytes, then a two's complement number
  Little(8, 1);
  Little(static_cast<uint64_t>(value), 8);
}

void PickleWriter::Unsigned(uint64_t value) {
  if (value <= 0xff) {
    Op('K');
    return Little(value, 1);
  }
  if (value <= 0xffff) {
    Op('M');
    return Little(value, 2);
  }
  if (value <= INT32_MAX) {
    Op('J');
    return Little(value, 4);
  }
  Op('\x8a');
  const int bytes = std::bit_width(value) / 8 + 1;  // the sign bit is clear: 9 bytes from 2^63 on
  Little(static_cast<uint64_t>(bytes), 1);
  Little(value, bytes < 8 ? bytes : 8);
  if (bytes == 9) Little(0, 1);
}

void PickleWriter::Float(double value) {
  Op('G');  // the only big-endian value
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 7; i >= 0; --i) frame_.push_back(static_cast<char>(bits >> (8 * i)));
}

void PickleWriter::String(std::string_view text) {
  const std::string clean = ValidUtf8(text);
  if (clean.size() <= 0xff) {
    Op('\x8c');
    Little(clean.size(), 1);
  } else {
    Op('X');
    Little(clean.size(), 4);
  }
  frame_ += clean;
}

void PickleWriter::Shared(std::string_view text) {
  const auto found = shared_.find(text);
  if (found != shared_.end()) return Get(found->second);
  String(text);
  shared_.emplace(text, Memoize());
}

uint32_t PickleWriter::Memoize() {
  Op(kMemoize);
  return memos_++;
}

void PickleWriter::Get(uint32_t memo) {
  if (memo <= 0xff) {
    Op('h');
    return Little(memo, 1);
  }
  Op('j');
  Little(memo, 4);
}

absl::Status PickleWriter::Finish() {
  Op('.');
  Flush();
  out_.flush();
  if (!out_) return absl::DataLossError(i18n::Text("cannot write the pickle; is the disk full?"));
  return absl::OkStatus();
}

}  // namespace vramscope::exporters
