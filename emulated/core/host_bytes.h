// Bytes of device memory that are known: what the host wrote there can be read back until a launch
// may have overwritten it. Everything else reads as zero, never as what some older tensor left
// there.
//
//   bytes.Write(device_address, host, 8);
//   bool known = bytes.Read(host, device_address, 8);     // false: zeros
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "emulated/core/api.h"

namespace vramscope::emulated {

class VRAMSCOPE_EMULATED_API HostBytes {
 public:
  static constexpr uint64_t kLargest = uint64_t{4} << 20;   // of one copy; larger ones are not kept
  static constexpr uint64_t kBudget = uint64_t{128} << 20;  // of all; the oldest go first

  // The host's copies. `address` is device memory, which is mapped (if not backed).
  void Write(uint64_t address, const void* from, uint64_t bytes);
  void Fill(uint64_t address, const void* pattern, uint64_t pattern_bytes, uint64_t count);
  void Move(uint64_t to, uint64_t from, uint64_t bytes);  // device to device
  // From the first byte on that is not known, zeros; false where there is one. (Programs lengthen
  // what they send to the longest rank's length.)
  bool Read(void* to, uint64_t address, uint64_t bytes);

  // What a single byte that is not known reads as on this thread: a truth that PyTorch's own code
  // asks for. False to begin with.
  static void SetUnknownTruth(bool truth);

  // For whoever works out values beside us: these bytes are (no longer) what they would be on a
  // card. Unlike bytes that were merely copied in, they stay known through launches.
  void Keep(uint64_t address, uint64_t bytes, bool known);
  bool IsKnown(uint64_t address, uint64_t bytes) const;
  uint64_t KnownPrefix(uint64_t address, uint64_t bytes) const;  // so many, from the first on
  // How many of the elements there are not zero; nullopt where not every byte is known.
  std::optional<uint64_t> CountNonZero(uint64_t address, uint64_t elements,
                                       uint64_t element_bytes) const;

  // A library's call wrote there; there is nothing any more (freed).
  void Overwritten(uint64_t address, uint64_t bytes);
  void Freed(uint64_t address, uint64_t bytes);
  // A kernel was launched that got these pointers and writes at most `extent` bytes from each.
  void Launched(std::span<const uint64_t> pointers, uint64_t extent);
  // A kernel of which nothing is known was launched: all that was merely copied in may be
  // overwritten.
  void LaunchedUnknown();

  // Whether there is anything that a launch could make unknown.
  bool HasFleeting() const { return fleeting_.load(std::memory_order_relaxed) > 0; }
  uint64_t known_bytes() const;

 private:
  struct Range {
    uint64_t bytes = 0;
    uint64_t age = 0;
    bool kept = false;
  };
  using Ranges = std::map<uint64_t, Range>;
  void Remove(uint64_t address, uint64_t bytes, bool kept_too);
  void Insert(uint64_t address, uint64_t bytes, bool kept);
  uint64_t PrefixLocked(uint64_t address, uint64_t bytes) const;
  bool KnownLocked(uint64_t address, uint64_t bytes) const;
  Ranges::iterator Put(uint64_t address, const Range& range);
  Ranges::iterator Drop(Ranges::iterator it);

  mutable std::mutex mutex_;
  Ranges ranges_;
  uint64_t bytes_ = 0;
  uint64_t age_ = 0;
  std::atomic<uint64_t> fleeting_{0};  // ranges that are not kept
};

}  // namespace vramscope::emulated
