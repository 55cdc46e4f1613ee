// The step and phase of every entry: from stacks and annotations, then from the order of these
// marks. Lifetimes (lifetimes.h) are used if there are no marks.
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

// A pass over the model within one step: forward (with loss and data), backward or optimizer,
// including everything in between.
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

// Splits a range that CompleteFromOrder took for one pass into steps, if it consists of equal
// forward passes without gradients. The same allocations must repeat exactly up to the end of the
// recording.
void SplitEqualPasses(const recording::History& history, Timeline& timeline);

// Whether phases change every few entries without repetition. Stacks of such files do not match the
// time of their entries, so ReadMarks ignores their phases.
bool IsNoise(const Timeline& timeline);

// Ranges with the same phase, split at steps.
std::vector<Labels::PhaseRange> PhaseRanges(const Timeline& timeline);
// Sorted by begin, without overlaps; there are gaps outside passes.
std::vector<PassRange> Passes(const Timeline& timeline);

}  // namespace vramscope::inference
