#include "emulated/core/masks.h"

#include <algorithm>
#include <cstring>

namespace vramscope::emulated {
namespace {

// Returns the size of T in NonZeroOp<T>. `argument` begins with the type's letter in the mangled
// name (Itanium C++ ABI).
uint8_t ElementBytes(const char* argument) {
  switch (*argument) {
    case 'b':
    case 'a':
    case 'h':
      return 1;
    case 's':
    case 't':
      return 2;
    case 'i':
    case 'j':
    case 'f':
      return 4;
    case 'l':
    case 'm':
    case 'x':
    case 'y':
    case 'd':
      return 8;
    default:  // c10's types, whose bytes are not read
      return 0;
  }
}

thread_local uint64_t most_distinct = 0;

}  // namespace

MaskKernelFacts MaskKernelOf(const char* name) {
  if (std::strstr(name, "DeviceUniqueByKeySweepKernel") != nullptr) {
    return {.kernel = MaskKernel::kDistinct};
  }
  if (std::strstr(name, "DeviceReduce") == nullptr) {
    return {};
  }
  const bool whole = std::strstr(name, "DeviceReduceSingleTileKernel") != nullptr;
  constexpr const char kOperator[] = "NonZeroOpI";
  const char* counted = std::strstr(name, kOperator);
  if (counted != nullptr) {
    return {.kernel = whole ? MaskKernel::kCounts : MaskKernel::kBegins,
            .element_bytes = ElementBytes(counted + sizeof kOperator - 1)};
  }
  return {.kernel = whole ? MaskKernel::kSums : MaskKernel::kNone};
}

void Masks::SayDistinct(uint64_t most) { most_distinct = most; }

uint64_t Masks::Distinct(uint64_t keys) {
  return most_distinct == 0 ? keys : std::min(keys, most_distinct);
}

void Masks::Say(uint64_t address, uint64_t elements, uint64_t count) {
  std::lock_guard lock(mutex_);
  if (counts_.size() >= kMost) {
    counts_.clear();
  }
  counts_[{address, elements}] = std::min(count, elements);
}

uint64_t Masks::Count(const HostBytes& bytes, uint64_t address, uint64_t elements,
                      uint64_t element_bytes) {
  const auto found =
      element_bytes == 0 ? std::nullopt : bytes.CountNonZero(address, elements, element_bytes);
  if (found) {
    // Stores the count, because launches that read the mask make its bytes unknown.
    Say(address, elements, *found);
    return *found;
  }
  std::lock_guard lock(mutex_);
  auto it = counts_.find({address, elements});
  if (it == counts_.end()) {
    it = counts_.find({0, elements});
  }
  return it == counts_.end() ? elements : it->second;
}

}  // namespace vramscope::emulated
