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
// Maximum number of blocks that variables of the program hold from one pass to the next.
inline constexpr uint32_t kHeldBlocks = 8;
// Minimum height of a forward pass that saves activations for backward. A single layer of a pass
// that saves none is lower.
inline constexpr uint32_t kTrainingHeight = 24;
// Number of allocations that are compared to find the beginning of the first step.
inline constexpr uint32_t kSignature = 12;
// Maximum number of consecutive allocations of one step (workspaces, new states) that have no
// counterpart in the next step.
inline constexpr uint32_t kMostSkipped = 3;

struct LivePeak {
  uint32_t begin = 0, end = 0;  // rows
  uint32_t height = 0;
};

// Its functions only read the rows, which must outlive this object.
class PassFinder {
 public:
  PassFinder(const Rows& rows, const recording::History& history, const Lives& lives)
      : rows_(rows), history_(history), lives_(lives) {}

  // Whether the allocations match. A first step may make some (workspaces) that later steps lack.
  bool Similar(uint32_t first, uint32_t second) const;
  // The number of transient blocks before each row of [first, last): blocks that these rows
  // allocate and that are freed before `until`. If `with_older`, also blocks older than the
  // recording that are freed between `from` and `until`.
  std::vector<uint32_t> Heights(uint32_t first, uint32_t last, EntryIndex from, EntryIndex until,
                                bool with_older) const;
  std::vector<LivePeak> FindPeaks(uint32_t first, uint32_t last, EntryIndex until,
                                  const std::vector<uint32_t>& heights) const;
  // Whether `part` repeats allocations of `pass` and is far shorter than `pass`.
  bool RunsAgain(const LivePeak& pass, const LivePeak& part) const;
  // Whether a peak's forward pass saved blocks for backward: the blocks that are live in the middle
  // were then allocated throughout the pass. Without a backward pass, they were allocated just
  // before the middle.
  bool SavesForBackward(const LivePeak& peak, uint32_t middle) const;

 private:
  // Whether the blocks that are live at the top of the peak were allocated in many places.
  // Activations can have the sizes of parameters, but an optimizer makes each of its lists in one
  // place.
  bool MadeHereAndThere(const LivePeak& peak, EntryIndex until, uint32_t first,
                        const std::vector<uint32_t>& heights) const;
  // Whether the first allocations of the peak are repeated at `row`. Needed because variables of
  // the program hold a few blocks until the next pass, so that the number of blocks may never fall
  // to zero.
  bool BeginsAgain(const LivePeak& peak, uint32_t row, uint32_t last, uint32_t first,
                   const std::vector<uint32_t>& heights) const;
  // Whether the allocations still match after the first few. The recomputation of a layer begins
  // like the model's forward pass, but is followed by the layer's backward pass.
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
