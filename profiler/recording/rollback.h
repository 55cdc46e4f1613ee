// Goes back in time over the entries, from the final segments and blocks to the memory before the
// first entry. Pairs every free with its allocation. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::recording {

inline constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

// More bytes than any device has: entries and blocks with such sizes are damaged.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 56;

// A block in use at the end.
struct EndBlock {
  uint64_t address = 0, bytes = 0, requested = 0;
  uint32_t stream = 0;
  trace::StackId stack;
  uint8_t device = 0;
  bool pending = false;  // its free was requested but not completed
  bool bytes_known = true;
};

struct BlockLife {
  EntryIndex alloc = kNoEntry;  // kNoEntry: older than the recording
  EntryIndex requested = kNoEntry, completed = kNoEntry;
  uint32_t end_block = kNoRow;  // if in use at the end, row of end_blocks
};

struct OlderBlock {
  uint64_t address = 0;
  uint8_t device = 0;
  BlockLife life;
};

struct SegmentLife {
  SegmentState segment;  // without its blocks
  EntryIndex alloc = kNoEntry, free = kNoEntry;
};

struct MappedRange {
  uint8_t device = 0;
  uint64_t begin = 0, end = 0;
};

// Contradictions, which are counted and reported.
enum class Oddity : uint8_t {
  kDamagedEntry,
  kDamagedSegment,
  kDamagedBlock,
  kFreeWithoutAlloc,
  kRequestWithoutFree,
  kSegmentAllocUnseen,
  kSegmentFreeTwice,
  kMapUnseen,
  kUnmapTwice,
  kNeverFreed,
  kFreeMissing,
  kOverlap,
  kOutsideSegments,
  kLargerThanRule,
  kRequestedDiffers,
};
inline constexpr size_t kOddities = static_cast<size_t>(Oddity::kRequestedDiffers) + 1;

class Oddities {
 public:
  void Count(Oddity oddity) { ++counts_[static_cast<size_t>(oddity)]; }
  std::vector<std::string> Texts() const;

 private:
  std::array<uint64_t, kOddities> counts_{};
};

struct Start {
  std::vector<EndBlock> end_blocks;
  std::vector<OlderBlock> older;    // sorted by (device, address)
  std::vector<BlockLife> recorded;  // sorted by entry
  // Segments that are not expandable. Those of the start come first, by (device, address).
  std::vector<SegmentLife> segments;
  std::vector<MappedRange> mapped;  // pages of expandable segments at the start, by (device, begin)
  std::vector<EntryIndex> left_out;  // ascending
};

Start RollBack(const Recording& recording, Oddities& oddities);

}  // namespace vramscope::recording
