// Collects the facts for the rules in finding_rules.h: the peak, the blocks that are live at the
// peak, steps and phases. Internal to this folder.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/hash_map.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/findings.h"

namespace vramscope::explain {

// The blocks that a finding is about.
struct Pile {
  uint64_t bytes = 0, count = 0;
  std::vector<trace::AllocationId> blocks;
};

// A block that is live at the peak.
struct LiveBlock {
  trace::AllocationId id;
  trace::Category category;  // its category at the peak
  trace::Phase phase;        // the phase that allocated it
  int32_t step, micro_batch;
  uint64_t bytes;  // rounded size
};

struct PhaseSpan {
  trace::Phase phase;
  trace::EventIndex begin, end;
};

class FindingFacts {
 public:
  explicit FindingFacts(const trace::Trace& of);

  const trace::Trace& trace;
  analysis::MemoryCurves curves;
  analysis::Peak peak;
  std::vector<LiveBlock> live;           // blocks live at the peak, largest first
  std::vector<analysis::StepRow> steps;  // in order
  std::vector<PhaseSpan> phases;         // outermost phases, in order
  // The first event of the first step, or kNoEvent if there is no step.
  trace::EventIndex training_begin = 0;
  Fragmentation fragmentation;  // state at the event with the most reserved bytes
  CallSites sites;

  bool trains() const { return training_begin != trace::kNoEvent; }
  bool PeakIn(trace::Phase phase) const { return peak.context.phase == phase; }
  bool RanOutOfMemory() const;
  bool HasPhase(trace::Phase phase) const;
  bool PeakInStep() const { return peak.context.step >= 0; }
  // Like PeakInStep(), but returns false if steps are inferred from stacks, because a block may
  // then have the number of a neighbouring step.
  bool PeakInRecordedStep() const { return PeakInStep() && steps_recorded_; }
  uint64_t OfPeak(double share) const {
    return static_cast<uint64_t>(share * static_cast<double>(peak.allocated));
  }
  std::string_view Op(trace::AllocationId id) const {
    return trace.String(trace.allocations.op[id.value]);
  }
  std::string_view Module(trace::AllocationId id) const {
    return trace.String(trace.allocations.module[id.value]);
  }
  // Returns the most allocated bytes at any event for which `counts` returns true.
  template <class Counts>
  uint64_t MostAllocated(const Counts& counts) const {
    uint64_t most = 0;
    for (size_t i = 0; i < curves.size(); ++i)
      if (curves.allocated[i] > most && counts(curves.event[i])) most = curves.allocated[i];
    return most;
  }
  trace::Phase PhaseAt(trace::EventIndex event) const;
  // Returns the last event of a step, or kNoEvent if the trace lacks the step or its end.
  trace::EventIndex EndOfStep(int32_t step) const;
  // Returns the end of the backward pass in the peak's step, or kNoEvent if no backward pass of
  // that step ends after the peak.
  trace::EventIndex EndOfBackward() const;
  // Returns the blocks, live at the peak and not claimed yet, for which `is` returns true.
  template <class Is>
  Pile Collect(const Is& is) const {
    Pile pile;
    for (const LiveBlock& block : live)
      if (!claimed_[block.id.value] && is(block)) Put(pile, block.id, block.bytes);
    return pile;
  }
  // Claims the blocks, so that later findings do not count them.
  void Claim(const Pile& pile) {
    for (const trace::AllocationId id : pile.blocks) claimed_[id.value] = true;
  }
  static void Put(Pile& pile, trace::AllocationId id, uint64_t bytes) {
    pile.bytes += bytes;
    ++pile.count;
    pile.blocks.push_back(id);
  }

  // Returns the call site that has most of the pile's bytes, such as "train.py:88 main". Without
  // stacks, returns the module that has most of them, or "".
  std::string Where(const Pile& pile) const;
  // Returns the caller of the operator, such as "tuners_utils.py:1421 _cast_input_dtype". Returns
  // "" if there are no stacks or if the caller is a function of PyTorch.
  std::string CallerOf(trace::AllocationId id) const;
  // Returns whether the block is still live when `step` ends, or false if there is no such step.
  bool IsHeldAfter(trace::AllocationId id, int32_t step) const;
  bool HasStack(trace::AllocationId id) const;
  // Returns whether the block has the category `buffer`, although no module has allocated or moved
  // it. The hooks give this category also to tensors that are created before the first step and
  // kept.
  bool IsPersistentTensor(const LiveBlock& block) const;
  // Returns whether a frame of the block's stack is in a file whose path contains `folder`.
  bool HasFrameIn(trace::AllocationId id, std::string_view folder) const;
  // Returns whether the block's stack has a frame of `function`, or of any function if it is "", in
  // a file whose path ends with `file_end`.
  bool HasFrame(trace::AllocationId id, std::string_view file_end,
                std::string_view function = {}) const;

 private:
  // Returns whether `is` is true for the file and the function of any frame of the block's stack.
  template <class Is>
  bool AnyFrame(trace::AllocationId id, const Is& is) const;

  bool steps_recorded_ = false;
  std::vector<bool> claimed_;  // indexed by allocation
};

}  // namespace vramscope::explain
