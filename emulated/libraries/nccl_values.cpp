#include "emulated/libraries/nccl_values.h"

#include <algorithm>
#include <cstring>

namespace vramscope::emulated::nccl {
namespace {

enum Type {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8a,
  kFloat8b
};

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct Bfloat16 {
  uint16_t bits;
  operator float() const { return FromBits(static_cast<uint32_t>(bits) << 16); }
  static Bfloat16 Of(float value) {
    uint32_t b = ToBits(value);
    // Rounds to the nearest value, and ties to even.
    if ((b & 0x7f800000) != 0x7f800000) b += 0x7fff + ((b >> 16) & 1);
    return {static_cast<uint16_t>(b >> 16)};
  }
};
struct Float16 {
  uint16_t bits;
  operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = (bits >> 10) & 31,
                   fraction = bits & 1023;
    if (exponent == 31) return FromBits(sign | 0x7f800000 | (fraction << 13));
    if (exponent) return FromBits(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float small = static_cast<float>(fraction) / 16777216.0f;  // 2^-24 each
    return sign ? -small : small;
  }
  static Float16 Of(float value) {
    const uint32_t b = ToBits(value);
    const auto sign = static_cast<uint16_t>((b >> 16) & 0x8000);
    const uint32_t magnitude = b & 0x7fffffff;
    if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
    if (magnitude >= 0x477ff000)
      return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds beyond the largest value
    if (magnitude < 0x38800000) {                     // subnormal
      const float scaled = FromBits(magnitude) * 16777216.0f;
      auto units = static_cast<uint16_t>(scaled);
      const float rest = scaled - static_cast<float>(units);
      if (rest > 0.5f || (rest == 0.5f && (units & 1))) ++units;
      return {static_cast<uint16_t>(sign | units)};
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
  }
};

template <class Stored, class Computed>
Stored Make(Computed value) {
  if constexpr (requires { Stored::Of(value); })
    return Stored::Of(value);
  else
    return static_cast<Stored>(value);
}

template <class Stored, class Computed>
void ReduceAll(int operation, std::span<std::byte> into, std::span<const std::byte> from) {
  for (size_t at = 0; at + sizeof(Stored) <= std::min(into.size(), from.size());
       at += sizeof(Stored)) {
    Stored a, b;
    std::memcpy(&a, into.data() + at, sizeof a);
    std::memcpy(&b, from.data() + at, sizeof b);
    const auto x = static_cast<Computed>(a), y = static_cast<Computed>(b);
    Computed result{};
    switch (operation) {
      case 1:
        result = static_cast<Computed>(x * y);
        break;
      case 2:
        result = x > y ? x : y;
        break;
      case 3:
        result = x < y ? x : y;
        break;
      default:
        result = static_cast<Computed>(x + y);
    }
    const Stored stored = Make<Stored>(result);
    std::memcpy(into.data() + at, &stored, sizeof stored);
  }
}
template <class Stored, class Computed>
void DivideAll(int ranks, std::span<std::byte> values) {
  for (size_t at = 0; at + sizeof(Stored) <= values.size(); at += sizeof(Stored)) {
    Stored a;
    std::memcpy(&a, values.data() + at, sizeof a);
    const Stored stored = Make<Stored>(
        static_cast<Computed>(static_cast<Computed>(a) / static_cast<Computed>(ranks)));
    std::memcpy(values.data() + at, &stored, sizeof stored);
  }
}

// Integer sums wrap as on a GPU, in the unsigned type of the same size. clang-format does not
// converge on this list.
// clang-format off
#define VRAMSCOPE_TYPES(X)                                                                  \
  X(kInt8, int8_t, int)                                                                     \
  X(kUint8, uint8_t, unsigned)                                                              \
  X(kInt32, int32_t, int64_t)                                                               \
  X(kUint32, uint32_t, uint32_t) X(kUint64, uint64_t, uint64_t) X(kFloat16, Float16, float) \
      X(kFloat32, float, float) X(kFloat64, double, double) X(kBfloat16, Bfloat16, float)
// clang-format on

}  // namespace

size_t ElementBytes(int type) {
  switch (type) {
    case kInt8:
    case kUint8:
    case kFloat8a:
    case kFloat8b:
      return 1;
    case kFloat16:
    case kBfloat16:
      return 2;
    case kInt32:
    case kUint32:
    case kFloat32:
      return 4;
    case kInt64:
    case kUint64:
    case kFloat64:
      return 8;
    default:
      return 0;
  }
}

bool Reduce(int type, int operation, std::span<std::byte> into, std::span<const std::byte> from) {
  if (operation < 0 || operation > 4) return false;
  switch (type) {
#define VRAMSCOPE_CASE(NUMBER, STORED, COMPUTED)        \
  case NUMBER:                                          \
    ReduceAll<STORED, COMPUTED>(operation, into, from); \
    return true;
    VRAMSCOPE_TYPES(VRAMSCOPE_CASE)
#undef VRAMSCOPE_CASE
    case kInt64:
      if (operation == 2 || operation == 3)
        ReduceAll<int64_t, int64_t>(operation, into, from);
      else
        ReduceAll<uint64_t, uint64_t>(operation, into, from);
      return true;
    default:
      return false;
  }
}
void Divide(int type, int ranks, std::span<std::byte> values) {
  if (ranks < 1) return;
  switch (type) {
#define VRAMSCOPE_CASE(NUMBER, STORED, COMPUTED) \
  case NUMBER:                                   \
    DivideAll<STORED, COMPUTED>(ranks, values);  \
    return;
    VRAMSCOPE_TYPES(VRAMSCOPE_CASE)
#undef VRAMSCOPE_CASE
    case kInt64:
      DivideAll<int64_t, int64_t>(ranks, values);
      return;
    default:
      return;
  }
}

}  // namespace vramscope::emulated::nccl
