// How many elements of a mask are true: PyTorch's nonzero counts them on the card, reads the count
// back and makes room for so many indices; x[mask], masked_select and their backward passes go
// through it. Known where the mask's bytes are or were known, or where somebody said so; a mask of
// which nothing is known is true everywhere.
//
//   masks.Say(address, 1000, 125);  // Python: one in eight of what was computed there
//   uint64_t count = masks.Count(host_bytes, address, 1000, 1);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "emulated/core/api.h"
#include "emulated/core/host_bytes.h"

namespace vramscope::emulated {

// What a kernel of cub's has to do with a count, by its mangled name.
enum class MaskKernel : uint8_t {
  kNone,
  kCounts,  // the whole mask, into its second parameter
  kBegins,  // parts of it, which a kSums that follows adds up
  kSums,
  kDistinct,  // keys that differ from the one before, into its fifth parameter
};
struct MaskKernelFacts {
  MaskKernel kernel = MaskKernel::kNone;
  uint8_t element_bytes = 0;  // of the mask
};
VRAMSCOPE_EMULATED_API MaskKernelFacts MaskKernelOf(const char* mangled_name);

class VRAMSCOPE_EMULATED_API Masks {
 public:
  // As long as the same number of elements is counted there. Address 0: of masks of that size of
  // which nothing else is known (of a mask that is expanded a copy is counted).
  void Say(uint64_t address, uint64_t elements, uint64_t count);
  uint64_t Count(const HostBytes& bytes, uint64_t address, uint64_t elements,
                 uint64_t element_bytes);

  // At most so many keys are different of what this thread counts from here on; 0: all may be.
  static void SayDistinct(uint64_t most);
  static uint64_t Distinct(uint64_t keys);

 private:
  static constexpr size_t kMost = 1 << 16;  // masks; then all are forgotten
  std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> said_;  // of address and elements
};

}  // namespace vramscope::emulated
