// Chooses the address of an allocation. PyTorch's caching allocator uses the best fit, and among
// equal blocks the lowest address. So addresses are chosen as in recordings:
//   ascending   the lowest hole that is large enough (Windows, WSL)
//   descending  chunks of 32 MiB from the top; the rest of a chunk is used for later, smaller
//               allocations (Linux)
//
//   AddressSpace space(base, span, Placement::kDescending);
//   uint64_t at = space.Take(2 << 20);      // 0: no hole is large enough
//   space.Give(at, 2 << 20);
//
// Not thread-safe (Memory locks).
#pragma once

#include <cstdint>
#include <map>

#include "emulated/core/api.h"

namespace vramscope::emulated {

enum class Placement { kDescending, kAscending };

class AddressSpace {
 public:
  // Granularity of cudaMalloc and cuMemCreate.
  static constexpr uint64_t kGranule = uint64_t{2} << 20;
  static constexpr uint64_t kChunk = uint64_t{32} << 20;

  AddressSpace(uint64_t base, uint64_t span, Placement placement);

  // Both functions round `bytes` up to kGranule.
  uint64_t Take(uint64_t bytes);
  void Give(uint64_t address, uint64_t bytes);

  uint64_t base() const { return base_; }
  uint64_t span() const { return span_; }
  bool Contains(uint64_t address) const { return address - base_ < span_; }

 private:
  uint64_t TakeHole(uint64_t bytes);

  uint64_t base_, span_;
  Placement placement_;
  uint64_t low_;                        // descending: no lower address has been used
  std::map<uint64_t, uint64_t> holes_;  // address -> bytes
};

VRAMSCOPE_EMULATED_API uint64_t RoundUp(uint64_t value, uint64_t to);

}  // namespace vramscope::emulated
