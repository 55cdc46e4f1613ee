// Limits the memory that the reader of one input may use. Every reader charges the memory of its
// rows as it creates them. Thus, if a small file unpacks to far more than any recording does,
// reading it ends with a message instead of exhausting the host's memory.
//
//   MemoryBudget budget(input);
//   if (!budget.Charge(kMemoryOfAnEntry)) return budget.Exceeded("2,100,000 entries", remedy);
//
// One thread at a time.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string_view>

#include "profiler/trace/input.h"

namespace vramscope::trace {

class MemoryBudget {
 public:
  // The bytes that any file may use, however small it is.
  static constexpr uint64_t kFloor = uint64_t{320} << 20;
  // The bytes that a file may use per byte on disk. A recording needs 1 to 4 bytes in memory per
  // byte of the uncompressed file, which is 10 to 80 times as large as its .zst.
  static constexpr uint64_t kPerByte = 8, kPerCompressedByte = 256;
  // From this limit on, each further byte of a compressed file adds only half as much.
  // That suffices: a million consecutive entries are charged 250 MiB, and take 2 MiB in a
  // .zst.
  static constexpr uint64_t kLarge = uint64_t{1} << 30, kPerByteOfLarge = kPerCompressedByte / 2;

  // Limits for a `.trace`: per byte of the file, and in total. They are higher, because this format
  // compresses repeated steps far more than a .zst, and every written file must open again.
  static constexpr uint64_t kPerTraceByte = 2048, kMostOfTrace = uint64_t{8} << 30;

  // `limit` replaces the limit that is computed from the file, unless it is 0. `packed`: the input
  // is a `.trace`, which is compressed by itself. In any case, the limit is at most the computer's
  // available memory. The input must outlive the budget.
  explicit MemoryBudget(const InputStream& input, uint64_t limit = 0, bool packed = false);

  // Returns false if the limit is exceeded. From then on, exhausted() is true.
  bool Charge(uint64_t bytes) {
    used_ += bytes;
    return (used_ <= limit_ && !exhausted_) || UpdateLimit();
  }
  // Takes back a charge for memory that was released.
  void Refund(uint64_t bytes) { used_ -= bytes < used_ ? bytes : used_; }
  bool Fits(uint64_t bytes) const { return bytes <= limit_ && used_ <= limit_ - bytes; }
  bool exhausted() const { return exhausted_; }
  uint64_t used() const { return used_; }

  // Returns kResourceExhausted, with the message that the data read so far (`what`: "2,100,000
  // entries") needs more than the limit. The message includes `remedy`, a way to avoid this.
  absl::Status Exceeded(std::string_view what, std::string_view remedy) const;

 private:
  bool UpdateLimit();  // updates the limit of a pipe after more of it was read
  uint64_t OfFile() const;

  const InputStream& input_;
  const uint64_t fixed_, available_;
  const bool trace_, packed_;
  uint64_t used_ = 0, limit_ = 0;
  bool exhausted_ = false;
};

// Returns the available memory of the computer or, if it is less, of this process's control group.
uint64_t AvailableMemory();

}  // namespace vramscope::trace
