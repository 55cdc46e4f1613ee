// Finds the step and phase of every entry: first from marks (stacks, annotations), then from the
// order of the marks. If there are no marks, lifetimes are used (lifetimes.h).
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

// A pass is a part of one step: forward (with loss and data), backward or optimizer. It includes
// unmarked entries between entries of the same pass.
enum class Pass : uint8_t { kNone, kForward, kBackward, kOptimizer };
struct PassRange {
  EntryIndex begin = 0, end = 0;
  Pass pass = Pass::kNone;
};

// Reads phases from stacks and annotations, and steps from annotations, if any.
Timeline ReadMarks(const recording::Recording& recording, const Stacks& stacks);

// Whether the marks distinguish forward from backward.
bool SeparatesPasses(const Timeline& timeline);

// Fills gaps between marks, and finds steps if there are no annotations of steps.
void CompleteFromOrder(const recording::Recording& recording, Timeline& timeline);

// CompleteFromOrder may put several equal forward passes without gradients into one step. Splits
// that step into one step per pass. The allocations of a pass must repeat exactly up to the end of
// the recording.
void SplitEqualPasses(const recording::History& history, Timeline& timeline);

// Returns whether phases change every few entries and do not repeat. In such a recording, entries
// have wrong stacks, so ReadMarks ignores the phases from stacks.
bool IsNoise(const Timeline& timeline);

// Returns ranges of entries of the same phase and step.
std::vector<Labels::PhaseRange> PhaseRanges(const Timeline& timeline);
// Returns the passes, sorted by begin. They do not overlap. Some entries are in no pass.
std::vector<PassRange> Passes(const Timeline& timeline);

}  // namespace vramscope::inference
