// Which start states agree with a recording. The rest of a large block that is too small to be
// split off (at most 1 MiB) belongs to the block, and of a block that is older than the recording
// and freed within it no file says whether it has one. It matters for one thing: how large, and
// where, the free block behind it is. A recorded choice that would have gone to that free block at
// some size rules those sizes out, one that went to it says exactly where it begins. Since the
// choices themselves are recorded, every block can be weighed on its own: all start states are
// covered without trying combinations. Internal to this folder.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/replay/recorded_state.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

class StartStates {
 public:
  // Blocks of `state`, at event `begin`, whose tail is not known.
  StartStates(const trace::Trace& trace, trace::EventIndex begin, const RecordedState& state,
              const run::AllocConf& conf);

  // Some tail can still be told from what comes.
  bool open() const { return !open_.empty(); }
  // Before a request that the recording served at `recorded`, nullopt: with a new segment. Rules
  // out what would have been chosen otherwise; where the model itself is about to choose otherwise,
  // gives its blocks tails under which it does not, if any still agree with everything so far.
  void Weigh(allocator::CachingAllocator& model, uint64_t bytes, uint32_t stream, uint32_t mempool,
             std::optional<uint64_t> recorded);
  // The block is free: its tail is of no account any more.
  void Forget(uint64_t address);
  void ForgetAll() { open_.clear(); }

  uint64_t blocks() const { return tails_.size(); }
  uint64_t inferred() const;  // blocks that have a tail in every state that agrees
  // Combinations; nullopt: more than 2^64 - 1. And their logarithm (to 10).
  struct Count {
    std::optional<uint64_t> states;
    double log10 = 0;
  };
  Count tried() const { return tried_; }
  Count consistent() const;

 private:
  static constexpr uint64_t kStep = 512;
  static constexpr uint64_t kMostTail = uint64_t{1} << 20;
  static constexpr size_t kTails = kMostTail / kStep + 1;
  struct Tail {
    uint64_t address = 0, rounded = 0;  // of the block without it
    uint64_t bytes = 0;                 // in the model now
    uint32_t stream = 0, mempool = 0;
    std::bitset<kTails> allowed;
    uint64_t end() const { return address + rounded; }
  };
  bool SetTail(allocator::CachingAllocator& model, Tail& tail, uint64_t bytes);
  bool ExplainBy(allocator::CachingAllocator& model, const std::optional<allocator::Block>& choice,
                 std::optional<uint64_t> recorded, uint64_t size, uint32_t stream,
                 uint32_t mempool);

  run::AllocConf conf_;
  std::vector<Tail> tails_;
  std::vector<uint32_t> open_;  // rows of tails_
  Count tried_ = {.states = 1};
};

}  // namespace vramscope::replay
