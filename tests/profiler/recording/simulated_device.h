// A simple caching allocator for these tests, written after the description of PyTorch's allocator.
// It records what it does, and knows the size of every block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/run/alloc_conf.h"

namespace vramscope::recording {

class SimulatedDevice {
 public:
  struct Block {
    uint64_t address = 0, bytes = 0, requested = 0;
    bool live = false, pending = false;
    uint64_t segment = 0;  // address of its segment
  };
  struct Segment {
    uint64_t bytes = 0;  // for an expandable segment: all its addresses
    uint32_t stream = 0;
    trace::Pool pool = trace::Pool::kSmall;
  };

  SimulatedDevice(uint8_t number, const run::AllocConf& conf, uint32_t seed);

  // Runs one random action: an alloc, a free, the completion of a pending free, or sometimes
  // empty_cache(). Adds its entries to `entries`.
  void Act(EntryTable& entries);

  // Returns the segments that a snapshot would contain now.
  std::vector<SegmentState> Snapshot() const;
  const std::map<uint64_t, Block>& blocks() const { return blocks_; }  // live and free blocks
  // The block sizes of all kAlloc entries so far, in order.
  const std::vector<uint64_t>& handed_out() const { return handed_out_; }

 private:
  using BlockMap = std::map<uint64_t, Block>;
  uint64_t Random(uint64_t below) { return rng_() % below; }
  void Record(EntryTable& entries, Action action, uint64_t address, uint64_t bytes,
              uint32_t stream);
  void Malloc(EntryTable& entries, uint64_t requested, uint32_t stream);
  BlockMap::iterator FromDriver(EntryTable& entries, uint64_t rounded, uint32_t stream,
                                trace::Pool pool);
  BlockMap::iterator Map(EntryTable& entries, uint64_t rounded, uint32_t stream, trace::Pool pool);
  BlockMap::iterator Merge(BlockMap::iterator block);
  void Free(EntryTable& entries, BlockMap::iterator block);
  void Complete(EntryTable& entries, BlockMap::iterator block);
  void EmptyCache(EntryTable& entries);
  uint64_t Rounded(uint64_t requested) const;
  uint64_t Page(trace::Pool pool) const;

  const uint8_t number_;
  const run::AllocConf conf_;
  std::mt19937_64 rng_;
  uint64_t next_address_;
  BlockMap blocks_;
  std::map<uint64_t, Segment> segments_;
  std::vector<uint64_t> handed_out_;
};

// A recording of `entries` entries from `devices` simulated devices, without the first `lost`.
struct Simulated {
  Recording recording;
  std::vector<uint64_t> handed_out;  // block of each kAlloc of the recording
  std::vector<SegmentState> start;   // a snapshot at the begin of the recording
  std::vector<std::pair<uint8_t, SimulatedDevice::Block>>
      older;  // live at the begin of the recording, by device and address
};
Simulated Simulate(const run::AllocConf& conf, uint32_t seed, int devices, uint32_t entries,
                   uint32_t lost);

}  // namespace vramscope::recording
