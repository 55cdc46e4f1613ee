// Which step and phase every entry belongs to: from stacks and annotations, then from the order of
// what they found; lifetimes (lifetimes.h) fill in where neither says anything.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/stacks.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

using recording::EntryIndex;
using recording::Labels;

// One row an entry.
struct Timeline {
  std::vector<trace::Phase> phase;
  std::vector<uint8_t> rule;
  std::vector<Labels::Step> steps;

  uint32_t size() const { return static_cast<uint32_t>(phase.size()); }
  void Mark(EntryIndex begin, EntryIndex end, trace::Phase p, uint8_t r);
};

// A pass over the model: what belongs to forward (with loss and data), to backward, or to the
// optimizer, whatever lies in between. Of one step.
enum class Pass : uint8_t { kNone, kForward, kBackward, kOptimizer };
struct PassRange {
  EntryIndex begin = 0, end = 0;
  Pass pass = Pass::kNone;
};

// Phases as stacks and annotations say them; steps from annotations, if any.
Timeline ReadMarks(const recording::Recording& recording, const Stacks& stacks);

// True: the marks tell forward from backward.
bool SeparatesPasses(const Timeline& timeline);

// Fills gaps between marks, and finds steps where no annotation gave any.
void CompleteFromOrder(const recording::Recording& recording, Timeline& timeline);

// Equal forward passes one after another, without gradients, are steps of their own: what
// CompleteFromOrder takes for one pass is cut where the same requests come again, if they do so
// exactly and to the recording's end.
void SplitEqualPasses(const recording::History& history, Timeline& timeline);

// Phases change every few entries, and never in the same way twice: stacks that say nothing of when
// they were recorded. ReadMarks leaves them out.
bool IsNoise(const Timeline& timeline);

// Ranges of equal phase, cut at steps.
std::vector<Labels::PhaseRange> PhaseRanges(const Timeline& timeline);
// By begin, not overlapping; gaps where there is no pass.
std::vector<PassRange> Passes(const Timeline& timeline);

}  // namespace vramscope::inference
