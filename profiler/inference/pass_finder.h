// PassFinder of a model as peaks: how many blocks that come and go are there at each request, where
// the number rises and falls, and where the same requests come again. For lifetimes.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/rows.h"

namespace vramscope::inference {

// Fewer blocks than this across the middle of a peak: no backward.
inline constexpr uint32_t kSavedBlocks = 6;
// Blocks that variables of the program may hold from one pass to the next.
inline constexpr uint32_t kHeldBlocks = 8;
// What a forward that saves for backward reaches at least, and one layer without does not.
inline constexpr uint32_t kTrainingHeight = 24;
// Requests that are compared to find the begin of the first step.
inline constexpr uint32_t kSignature = 12;
// Requests of one step that the next may lack (workspaces, new states).
inline constexpr uint32_t kMostSkipped = 3;

struct LivePeak {
  uint32_t begin = 0, end = 0;  // rows
  uint32_t height = 0;
};

// Pure functions of the rows, which it refers to.
class PassFinder {
 public:
  PassFinder(const Rows& rows, const recording::History& history, const Lives& lives)
      : rows_(rows), history_(history), lives_(lives) {}

  // A first step asks for some things (workspaces) that later ones do not.
  bool Similar(uint32_t first, uint32_t second) const;
  // How many transient blocks are there before each row of [first, last): made after `from`, or
  // older and let go in here; let go before `until`.
  std::vector<uint32_t> Heights(uint32_t first, uint32_t last, EntryIndex from, EntryIndex until,
                                bool with_older) const;
  std::vector<LivePeak> FindPeaks(uint32_t first, uint32_t last, EntryIndex until,
                                  const std::vector<uint32_t>& heights) const;
  // A part of the pass, far shorter.
  bool RunsAgain(const LivePeak& pass, const LivePeak& part) const;
  // What is there in the middle of a peak was made all along forward, if it is saved for backward;
  // without a backward it was made just before.
  bool SavesForBackward(const LivePeak& peak, uint32_t middle) const;

 private:
  // Activations may happen to have parameters' sizes. But what is there at the top of the peak was
  // made in many places, an optimizer's lists in a row each.
  bool MadeHereAndThere(const LivePeak& peak, EntryIndex until, uint32_t first,
                        const std::vector<uint32_t>& heights) const;
  // Variables of the program hold a few blocks until the next pass sets them anew, so that the
  // number does not fall to nothing; but the requests are those of the peak's begin again.
  bool BeginsAgain(const LivePeak& peak, uint32_t row, uint32_t last, uint32_t first,
                   const std::vector<uint32_t>& heights) const;
  // A layer that backward runs again begins like the model, too, but then comes its backward.
  bool GoesOnAlike(uint32_t first, uint32_t second, uint32_t last) const;
  uint64_t WindowAt(uint32_t row) const;
  // Between backward's end and the next forward is the optimizer.
  void EndWhereItFirstFell(LivePeak& peak, uint32_t held, uint32_t first,
                           const std::vector<uint32_t>& heights) const;

  const Rows& rows_;
  const recording::History& history_;
  const Lives& lives_;
};

}  // namespace vramscope::inference
