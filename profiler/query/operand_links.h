// Relates kernels, memcpys and memsets to blocks. An activity touches a block if one of its
// operands is an address in the block. Requires a trace with operands (trace::OperandTable).
//
//   OperandLinks links(trace);
//   for (const OperandLinks::Block& block : links.BlocksOf(kernel, 100)) ...
//   const OperandLinks::Touches touches = links.TouchesOf(allocation);
//
// Whether a touched block is read or written is only known for library calls, memcpys, memsets and
// PyTorch's elementwise kernels. A kernel can also have an operand that it does not use.
//
// Immutable; thread-safe. The lookup tables take four bytes per operand and per allocation. They
// are built by Prepare(), or else by the first query.
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

  // Takes half a second for three million operands, so it should be called during loading.
  void Prepare() const;

  // Whether the trace has operands.
  bool any() const { return trace_.operands.size() > 0; }

  struct Block {
    trace::AllocationId allocation;
    bool read = false, written = false;  // neither: unknown
    friend bool operator==(const Block&, const Block&) = default;
  };
  // Returns at most `most` blocks that the activity in row `activity` of Trace::activities touches,
  // sorted by address.
  std::vector<Block> BlocksOf(uint32_t activity, size_t most) const;

  // The first and the last activity in the order of Trace::activities; kNone if there is none.
  struct Ends {
    uint32_t first = kNone, last = kNone;
    friend bool operator==(const Ends&, const Ends&) = default;
  };
  struct Touches {
    uint64_t count = 0;       // number of activities that touch the block
    Ends all, reads, writes;  // `reads` and `writes`: only if known
    friend bool operator==(const Touches&, const Touches&) = default;
  };
  Touches TouchesOf(trace::AllocationId allocation) const;
  // Returns at most `most` activities that touch the block, sorted by begin.
  std::vector<uint32_t> TouchedBy(trace::AllocationId allocation, size_t most) const;

  size_t MemoryBytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // The time is when the operand's block was allocated. Blocks older than the trace count as
  // allocated when the trace begins.
  using Key = std::tuple<int64_t, uint8_t, uint64_t>;  // time, device, address

  struct Tables {
    std::vector<uint32_t> allocations, operands;  // rows sorted by Key
  };
  const Tables& tables() const;
  int64_t MadeAt(uint32_t operand) const;
  Key KeyOfOperand(uint32_t operand) const;
  Key KeyOfAllocation(uint32_t allocation) const;
  uint32_t BlockOf(uint32_t operand) const;  // kNone if unknown
  // Returns the activity of an operand, or kNone. Sets `behind` to the number of activities that
  // begin before the operand. Its old value may be any smaller number, such as the result for an
  // earlier operand.
  uint32_t WorkOf(uint32_t operand, uint32_t& behind) const;
  // Activities that touch a block, each with its operand, sorted by row.
  using Work = std::vector<std::pair<uint32_t, uint32_t>>;
  std::shared_ptr<const Work> WorkIn(uint32_t allocation) const;

  const trace::Trace& trace_;
  mutable std::once_flag once_;
  mutable Tables tables_;
  mutable std::atomic<size_t> bytes_{0};
  // The last result is cached, because a view asks for the same block repeatedly.
  mutable std::mutex mutex_;
  mutable uint32_t asked_ = kNone;
  mutable std::shared_ptr<const Work> work_;
};

// Returns "read", "written" or "read and written", or "touched" if this is unknown.
std::string_view UseText(bool read, bool written);

}  // namespace vramscope::query
