// Finds the passes of a model as peaks. A peak is a rise and fall of the number of transient blocks
// over the allocations. Also finds places that repeat earlier allocations. Used by
// lifetimes.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/rows.h"

namespace vramscope::inference {

// If fewer blocks than this are live across the middle of a peak, there is no backward pass.
inline constexpr uint32_t kSavedBlocks = 6;
// The most blocks that variables of the program hold from one pass to the next.
inline constexpr uint32_t kHeldBlocks = 8;
// The minimum height of a forward pass that saves activations for backward. A single layer is lower
// than this if its pass saves no activations.
inline constexpr uint32_t kTrainingHeight = 24;
// The number of allocations that are compared to find the beginning of the first step.
inline constexpr uint32_t kSignature = 12;
// The most consecutive allocations of one step that the next step may lack: workspaces, new
// states.
inline constexpr uint32_t kMostSkipped = 3;

struct LivePeak {
  uint32_t begin = 0, end = 0;  // rows
  uint32_t height = 0;
};

// Only reads the arguments of the constructor, which must outlive this object.
class PassFinder {
 public:
  PassFinder(const Rows& rows, const recording::History& history, const Lives& lives)
      : rows_(rows), history_(history), lives_(lives) {}

  // Whether the allocations match. A first step may make some (workspaces) that later steps lack.
  bool Similar(uint32_t first, uint32_t second) const;
  // Returns the number of transient blocks that are live before each row of [first, last).
  // Transient blocks are allocated by these rows and freed before `until`. If `with_older`, blocks
  // older than the recording count, too, if they are freed between `from` and `until`.
  std::vector<uint32_t> Heights(uint32_t first, uint32_t last, EntryIndex from, EntryIndex until,
                                bool with_older) const;
  std::vector<LivePeak> FindPeaks(uint32_t first, uint32_t last, EntryIndex until,
                                  const std::vector<uint32_t>& heights) const;
  // Whether `part` repeats allocations of `pass` and is far shorter than `pass`.
  bool RunsAgain(const LivePeak& pass, const LivePeak& part) const;
  // Whether a peak's forward pass saved blocks for backward. If it did, the blocks that are live in
  // the middle of the peak were allocated throughout the pass. Otherwise they were allocated just
  // before the middle.
  bool SavesForBackward(const LivePeak& peak, uint32_t middle) const;

 private:
  // Whether the blocks that are live at the top of the peak were allocated in many places, as
  // activations are (even those of parameters' sizes). An optimizer allocates each of its lists in
  // one place.
  bool MadeHereAndThere(const LivePeak& peak, EntryIndex until, uint32_t first,
                        const std::vector<uint32_t>& heights) const;
  // Whether the first allocations of the peak are repeated at `row`. This ends a peak even if the
  // number of blocks never falls to zero, because the program's variables hold a few blocks until
  // the next pass.
  bool BeginsAgain(const LivePeak& peak, uint32_t row, uint32_t last, uint32_t first,
                   const std::vector<uint32_t>& heights) const;
  // Whether the allocations still match after the first few. If not, the second pass may be a layer
  // that is recomputed: it begins like the forward pass, but then goes backward.
  bool GoesOnAlike(uint32_t first, uint32_t second, uint32_t last) const;
  uint64_t WindowAt(uint32_t row) const;
  // Ends the peak where it first falls to `held` blocks, because the optimizer runs between
  // backward and the next forward pass.
  void EndWhereItFirstFell(LivePeak& peak, uint32_t held, uint32_t first,
                           const std::vector<uint32_t>& heights) const;

  const Rows& rows_;
  const recording::History& history_;
  const Lives& lives_;
};

}  // namespace vramscope::inference
