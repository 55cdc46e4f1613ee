#include "profiler/trace/packed_column.h"

namespace vramscope::trace {
namespace {

constexpr size_t kWord = sizeof(uint64_t);
constexpr int kMostBits = 57;
constexpr uint8_t kNothing[kWord] = {};

}  // namespace

template <class Unsigned>
PackedRun::PackedRun(const Unsigned* values) {
  const Unsigned first = values[0];
  Unsigned differ = 0;  // bits in which some value differs from the first
  for (size_t i = 0; i < kValues; ++i) differ |= values[i] ^ first;
  if (differ == 0) {
    base_ = first;
    bytes_ = {std::shared_ptr<void>(), kNothing};
    return;
  }
  Unsigned least = first, most = first;
  for (size_t i = 0; i < kValues; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  base_ = least;
  // No two values differ in a lower bit, so all differences are multiples of this bit.
  shift_ = static_cast<uint8_t>(std::countr_zero(differ));
  int bits = std::bit_width(uint64_t{static_cast<Unsigned>(most - least)} >> shift_);
  if (bits > kMostBits) {
    bits = 64;
    shift_ = 0;
  }
  bits_ = static_cast<uint8_t>(bits);
  mask_ = ~uint64_t{0} >> (64 - bits);

  // The last word is extra: reading the last value also reads the bytes after it.
  const size_t words = (kValues * bits_ + 63) / 64 + 1;
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(words * kWord);
  uint8_t* to = bytes.get();
  const auto put = [&to](uint64_t word) {
    std::memcpy(to, &word, kWord);
    to += kWord;
  };
  uint64_t word = 0;
  int filled = 0;
  for (size_t i = 0; i < kValues; ++i) {
    const uint64_t rest = uint64_t{static_cast<Unsigned>(values[i] - least)} >> shift_;
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

template <class Unsigned>
void PackedRun::Decode(size_t first, size_t count, Unsigned* to) const {
  const auto base = static_cast<Unsigned>(base_);
  if (bits_ == 0) {
    std::fill_n(to, count, base);
    return;
  }
  const uint8_t* bytes = bytes_.get();
  const size_t bits = bits_;
  const int shift = shift_;
  const uint64_t mask = mask_;
  for (size_t i = 0, bit = first * bits; i < count; ++i, bit += bits) {
    uint64_t word;
    std::memcpy(&word, bytes + bit / 8, sizeof word);
    to[i] = static_cast<Unsigned>(base + static_cast<Unsigned>((word >> bit % 8 & mask) << shift));
  }
}

size_t PackedRun::MemoryBytes() const {
  constexpr size_t kCounts = 32;  // shared_ptr's control block and the heap's overhead
  return bits_ == 0 ? 0 : (kValues * bits_ / 8 + kWord) + kCounts;
}

template PackedRun::PackedRun(const uint8_t*);
template PackedRun::PackedRun(const uint32_t*);
template PackedRun::PackedRun(const uint64_t*);
template void PackedRun::Decode(size_t, size_t, uint8_t*) const;
template void PackedRun::Decode(size_t, size_t, uint32_t*) const;
template void PackedRun::Decode(size_t, size_t, uint64_t*) const;

}  // namespace vramscope::trace
