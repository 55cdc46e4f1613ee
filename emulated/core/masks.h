// Knows or assumes how many elements of a mask are true. PyTorch's nonzero counts them on the GPU,
// reads the count back and allocates that many indices. x[mask], masked_select and their backward
// passes use nonzero. The count is known if the mask's bytes are or were known, or if Say() has set
// it. Otherwise all elements count as true.
//
//   masks.Say(address, 1000, 125);  // called by Python: one in eight elements is true
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

// Which part of the counting a kernel of cub does, according to its mangled name.
enum class MaskKernel : uint8_t {
  kNone,
  kCounts,  // counts the whole mask into its second parameter
  kBegins,  // counts parts of the mask; the next kSums adds them up
  kSums,
  kDistinct,  // counts keys that differ from the previous key into its fifth parameter
};
struct MaskKernelFacts {
  MaskKernel kernel = MaskKernel::kNone;
  uint8_t element_bytes = 0;  // size of the mask's elements
};
VRAMSCOPE_EMULATED_API MaskKernelFacts MaskKernelOf(const char* mangled_name);

class VRAMSCOPE_EMULATED_API Masks {
 public:
  // Sets the count of the mask of `elements` elements at `address`. Address 0 means all masks of
  // that size that have no other count. Expanded masks need this, because PyTorch counts a copy of
  // them.
  void Say(uint64_t address, uint64_t elements, uint64_t count);
  uint64_t Count(const HostBytes& bytes, uint64_t address, uint64_t elements,
                 uint64_t element_bytes);

  // Limits how many keys count as distinct on this thread from now on. 0 means no limit.
  static void SayDistinct(uint64_t most);
  static uint64_t Distinct(uint64_t keys);

 private:
  static constexpr size_t kMost = 1 << 16;  // if there are more masks, all are forgotten
  std::mutex mutex_;
  // The keys are the address and the number of elements.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> counts_;
};

}  // namespace vramscope::emulated
