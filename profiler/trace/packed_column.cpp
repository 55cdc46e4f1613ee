#include "profiler/trace/packed_column.h"

namespace vramscope::trace {
namespace {

constexpr size_t kWord = sizeof(uint64_t);
constexpr int kMostBits = 57;
constexpr uint8_t kNothing[kWord] = {};

}  // namespace

PackedRun::PackedRun(std::span<const uint64_t> values, bool is_signed) {
  uint64_t differ = 0;  // bits in which some value differs from the first
  for (const uint64_t v : values) differ |= v ^ values.front();
  if (differ == 0) {
    base_ = values.empty() ? 0 : values.front();
    bytes_ = {std::shared_ptr<void>(), kNothing};
    return;
  }
  // What has a sign, moved so that the order is that of unsigned numbers.
  const uint64_t flip = is_signed ? uint64_t{1} << 63 : 0;
  uint64_t least = ~uint64_t{0}, most = 0;
  for (const uint64_t v : values) {
    least = std::min(least, v ^ flip);
    most = std::max(most, v ^ flip);
  }
  base_ = least ^ flip;
  // Numbers that are alike in their lowest bits differ by a multiple of the next.
  shift_ = static_cast<uint8_t>(std::countr_zero(differ));
  int bits = std::bit_width((most - least) >> shift_);
  if (bits > kMostBits) {
    bits = 64;
    shift_ = 0;
  }
  bits_ = static_cast<uint8_t>(bits);
  mask_ = ~uint64_t{0} >> (64 - bits);

  // A word behind the last: the last value is read with what follows it.
  const size_t words = (values.size() * bits_ + 63) / 64 + 1;
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(words * kWord);
  uint8_t* to = bytes.get();
  const auto put = [&to](uint64_t word) {
    std::memcpy(to, &word, kWord);
    to += kWord;
  };
  uint64_t word = 0;
  int filled = 0;
  for (const uint64_t v : values) {
    const uint64_t rest = (v - base_) >> shift_;
    word |= rest << filled;
    filled += bits;
    if (filled < 64) continue;
    put(word);
    filled -= 64;
    word = filled > 0 ? rest >> (bits - filled) : 0;
  }
  while (to < bytes.get() + words * kWord) {
    put(word);
    word = 0;
  }
  bytes_ = std::move(bytes);
}

size_t PackedRun::MemoryBytes() const {
  constexpr size_t kCounts = 32;  // of the shared pointer, and the allocator's own
  return bits_ == 0 ? 0 : (kValues * bits_ / 8 + kWord) + kCounts;
}

}  // namespace vramscope::trace
