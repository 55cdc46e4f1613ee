// Which blocks kernels, copies and fills were given addresses in, and which of them a block was
// given to first and last: by address, where the trace has operands (trace::OperandTable).
//
//   OperandLinks links(trace);
//   for (const OperandLinks::Block& block : links.BlocksOf(kernel, 100)) ...
//   const OperandLinks::Touches touches = links.TouchesOf(allocation);
//
// To be given an address in a block is to touch it: what of it is read and what is written is known
// of some work alone (a library's call, a copy, a fill, PyTorch's elementwise kernels), and a block
// may be given to a kernel that does not use it.
//
// Immutable; thread-safe. What it looks things up by (four bytes an operand and four an allocation)
// is made by Prepare(), else at the first question.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/query/lane_index.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

class OperandLinks {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit OperandLinks(const trace::Trace& trace) : trace_(trace) {}

  // Takes half a second for three million operands: for whoever loads.
  void Prepare() const;

  // Whether anybody said what anything works on.
  bool any() const { return trace_.operands.size() > 0; }

  struct Block {
    trace::AllocationId allocation;
    bool read = false, written = false;  // neither: not known
    friend bool operator==(const Block&, const Block&) = default;
  };
  // By address, each once, at most `most`. `activity`: a row of Trace::activities.
  std::vector<Block> BlocksOf(uint32_t activity, size_t most) const;

  // Rows of Trace::activities; kNone: none. By begin, then by row.
  struct Ends {
    uint32_t first = kNone, last = kNone;
    friend bool operator==(const Ends&, const Ends&) = default;
  };
  struct Touches {
    uint64_t count = 0;       // of what was given an address in it
    Ends all, reads, writes;  // reads and writes: as far as it is known
    friend bool operator==(const Touches&, const Touches&) = default;
  };
  Touches TouchesOf(trace::AllocationId allocation) const;
  // At most `most` of them, by begin.
  std::vector<uint32_t> TouchedBy(trace::AllocationId allocation, size_t most) const;

  size_t MemoryBytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // When the block was made, in the trace: what is older is there from its begin on.
  using Key = std::tuple<int64_t, uint8_t, uint64_t>;  // and device and address

  struct Tables {
    std::vector<uint32_t> allocations, operands;  // rows by Key
  };
  const Tables& tables() const;
  int64_t MadeAt(uint32_t operand) const;
  Key KeyOfOperand(uint32_t operand) const;
  Key KeyOfAllocation(uint32_t allocation) const;
  uint32_t BlockOf(uint32_t operand) const;  // kNone
  // kNone. `behind`: so many activities begin before it, of an operand that comes before this one;
  // then of this one.
  uint32_t WorkOf(uint32_t operand, uint32_t& behind) const;
  // What was given an address in the block, with the operand; by row of activities.
  using Work = std::vector<std::pair<uint32_t, uint32_t>>;
  std::shared_ptr<const Work> WorkIn(uint32_t allocation) const;

  const trace::Trace& trace_;
  mutable std::once_flag once_;
  mutable Tables tables_;
  mutable std::atomic<size_t> bytes_{0};
  // What was asked for last: a picture asks for the same block again and again.
  mutable std::mutex mutex_;
  mutable uint32_t asked_ = kNone;
  mutable std::shared_ptr<const Work> work_;
};

// "read", "written", "read and written"; "touched": it is not known which.
std::string_view UseText(bool read, bool written);

}  // namespace vramscope::query
