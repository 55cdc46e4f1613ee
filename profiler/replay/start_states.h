// Finds the start states that agree with a recording. The tail of a large block is a part that was
// not requested, but is too small (at most 1 MiB) to be split off. If a block is older than the
// recording and freed within it, no file contains its tail's size, which affects only the size and
// address of the free block after it. If the recorded allocator chose this free block, the recorded
// address gives the tail's size. If it chose another block, this excludes all tail sizes with which
// it would have chosen this free block. As all choices are known, tails do not influence each
// other: testing each tail alone covers all combinations. Internal to this folder.
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
  // Finds the blocks with unknown tails in `state`, the state at event `begin`.
  StartStates(const trace::Trace& trace, trace::EventIndex begin, const RecordedState& state,
              const run::AllocConf& conf);

  // Whether there are tails that later choices can still determine.
  bool open() const { return !open_.empty(); }
  // Must be called before an allocation, with its recorded address (nullopt: in a new segment).
  // Excludes tails with which another block would have been chosen. If the model would choose
  // another block, changes tails in the model to prevent this, as far as the remaining tails
  // allow.
  void Weigh(allocator::CachingAllocator& model, uint64_t bytes, uint32_t stream, uint32_t mempool,
             std::optional<uint64_t> recorded);
  // Must be called when a block is freed. The block's tail then has no effect any more.
  void Forget(uint64_t address);
  void ForgetAll() { open_.clear(); }

  uint64_t blocks() const { return tails_.size(); }
  // Returns the number of blocks with a tail in every start state that agrees with the recording.
  uint64_t inferred() const;
  // A number of combinations of tails (nullopt: more than 2^64 - 1), and its decimal logarithm.
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
    uint64_t address = 0, rounded = 0;  // without its tail, the block ends at address + rounded
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
