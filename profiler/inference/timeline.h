// The step and phase of every entry: first from marks (stacks, annotations), then from their order.
// Lifetimes (lifetimes.h) are used if there are no marks.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/stacks.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

using recording::EntryIndex;
using recording::Labels;

// One element per entry.
struct Timeline {
  std::vector<trace::Phase> phase;
  std::vector<uint8_t> rule;
  std::vector<Labels::Step> steps;

  uint32_t size() const { return static_cast<uint32_t>(phase.size()); }
  void Mark(EntryIndex begin, EntryIndex end, trace::Phase p, uint8_t r);
};

// A part of one step: forward (with loss and data), backward or optimizer. Contains unmarked
// entries between entries of the same pass.
enum class Pass : uint8_t { kNone, kForward, kBackward, kOptimizer };
struct PassRange {
  EntryIndex begin = 0, end = 0;
  Pass pass = Pass::kNone;
};

// Phases from stacks and annotations; steps from annotations, if any.
Timeline ReadMarks(const recording::Recording& recording, const Stacks& stacks);

// Whether the marks distinguish forward from backward.
bool SeparatesPasses(const Timeline& timeline);

// Fills gaps between marks, and finds steps if there are no annotations of steps.
void CompleteFromOrder(const recording::Recording& recording, Timeline& timeline);

// If CompleteFromOrder took several equal forward passes without gradients for one pass, splits
// them into steps. The allocations of a pass must repeat exactly up to the end of the
// recording.
void SplitEqualPasses(const recording::History& history, Timeline& timeline);

// Whether phases change every few entries without repetition. The stacks of such a recording do not
// belong to their entries, so ReadMarks ignores the phases that they show.
bool IsNoise(const Timeline& timeline);

// Ranges of entries in one phase, split at the boundaries of steps.
std::vector<Labels::PhaseRange> PhaseRanges(const Timeline& timeline);
// Sorted by begin, without overlaps; there are gaps outside passes.
std::vector<PassRange> Passes(const Timeline& timeline);

}  // namespace vramscope::inference
