// Finds the start states that agree with a recording. The tail of a large block is the part that
// was not requested and is too small (at most 1 MiB) to be split off. For a block that is older
// than the recording and freed within it, no file states whether it has a tail. The tail only
// affects the size and address of the free block after it. If the recorded allocator did not choose
// that free block, all tail sizes with which it would have done so are excluded. If it chose it,
// the free block's address gives the exact size. Since the choices are recorded, each block can be
// tested on its own, which covers all start states without trying combinations. Internal to this
// folder.
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
  // Considers the blocks of `state`, at event `begin`, whose tail is unknown.
  StartStates(const trace::Trace& trace, trace::EventIndex begin, const RecordedState& state,
              const run::AllocConf& conf);

  // Whether later choices can still determine some tail.
  bool open() const { return !open_.empty(); }
  // Call before an allocation that was recorded at `recorded` (nullopt: in a new segment). Excludes
  // tails with which another block would have been chosen. If the model itself is about to choose
  // differently, changes the tails of its blocks to avoid that, if the remaining tails allow it.
  void Weigh(allocator::CachingAllocator& model, uint64_t bytes, uint32_t stream, uint32_t mempool,
             std::optional<uint64_t> recorded);
  // The block is freed, so its tail no longer matters.
  void Forget(uint64_t address);
  void ForgetAll() { open_.clear(); }

  uint64_t blocks() const { return tails_.size(); }
  // Number of blocks that have a tail in every start state that agrees with the recording.
  uint64_t inferred() const;
  // Number of combinations; nullopt: more than 2^64 - 1. Also the decimal logarithm.
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
    uint64_t address = 0, rounded = 0;  // end of the block without its tail is address + rounded
    uint64_t bytes = 0;                 // the tail that the model currently has
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
