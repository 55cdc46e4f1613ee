// How much memory one input may make its reader hold. Every reader charges rows as it makes them,
// for all that they take until the trace is built, so that a small file that unpacks to far more
// than any recording ends with a message and not with a full computer.
//
//   MemoryBudget budget(input);
//   if (!budget.Charge(kMemoryOfAnEntry)) return budget.Exceeded("2,100,000 entries");
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
  // What any file may take, however small.
  static constexpr uint64_t kFloor = uint64_t{320} << 20;
  // For a byte of the file on disk. A recording takes 1 to 4 bytes in memory for one as written,
  // and is 10 to 80 times as large as its .zst.
  static constexpr uint64_t kPerByte = 8, kPerCompressedByte = 256;
  // From so much on, a byte of a compressed file may take half of it: what a million entries after
  // another take (2 MiB as .zst, charged 250 MiB), and little more.
  static constexpr uint64_t kLarge = uint64_t{1} << 30, kPerByteOfLarge = kPerCompressedByte / 2;

  // A `.trace` of a run whose steps are alike is packed far closer than that: what the writer
  // writes must open again. Up to so much, for a byte of it.
  static constexpr uint64_t kPerTraceByte = 2048, kMostOfTrace = uint64_t{8} << 30;

  // `limit`: in place of what follows from the file; 0: none. `packed`: a `.trace`, compressed in
  // itself. Never more than what the computer has available. The input must outlive the budget.
  explicit MemoryBudget(const InputStream& input, uint64_t limit = 0, bool packed = false);

  // False: it would be too much, and exhausted() from now on.
  bool Charge(uint64_t bytes) {
    used_ += bytes;
    return (used_ <= limit_ && !exhausted_) || Look();
  }
  // What was charged and is no longer held.
  void Refund(uint64_t bytes) { used_ -= bytes < used_ ? bytes : used_; }
  bool Fits(uint64_t bytes) const { return bytes <= limit_ && used_ <= limit_ - bytes; }
  bool exhausted() const { return exhausted_; }
  uint64_t used() const { return used_; }

  // kResourceExhausted: what was read ("2,100,000 entries") takes more than the limit, which limit
  // that is, and `remedy`, what can be done.
  absl::Status Exceeded(std::string_view what, std::string_view remedy) const;

 private:
  bool Look();  // whether more has been read, of a pipe, so that more may be held
  uint64_t OfFile() const;

  const InputStream& input_;
  const uint64_t fixed_, available_;
  const bool trace_, packed_;
  uint64_t used_ = 0, limit_ = 0;
  bool exhausted_ = false;
};

// Of the whole computer, or of the control group that this process is in.
uint64_t AvailableMemory();

}  // namespace vramscope::trace
