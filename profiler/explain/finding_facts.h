// What the rules of findings.cpp look at: the peak, what is there then, steps and phases. Internal
// to this folder.
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

// Blocks that a finding is about.
struct Pile {
  uint64_t bytes = 0, count = 0;
  std::vector<trace::AllocationId> blocks;
};

// A block that is there at the peak.
struct LiveBlock {
  trace::AllocationId id;
  trace::Category category;  // then
  trace::Phase phase;        // at birth
  int32_t step, micro_batch;
  uint64_t bytes;  // of the block
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
  std::vector<LiveBlock> live;           // at the peak, largest first
  std::vector<analysis::StepRow> steps;  // in order
  std::vector<PhaseSpan> phases;         // outermost ones, in order
  trace::EventIndex training_begin = 0;  // of the first step; kNoEvent: there is none
  Fragmentation fragmentation;           // where most is reserved
  CallSites sites;

  bool trains() const { return training_begin != trace::kNoEvent; }
  bool PeakIn(trace::Phase phase) const { return peak.context.phase == phase; }
  bool RanOutOfMemory() const;
  bool HasPhase(trace::Phase phase) const;
  bool PeakInStep() const { return peak.context.step >= 0; }
  // False where steps are inferred from stacks: a block may then lie in the step beside its own.
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
  // Most that was allocated at events of which `counts` is true.
  template <class Counts>
  uint64_t MostAllocated(const Counts& counts) const {
    uint64_t most = 0;
    for (size_t i = 0; i < curves.size(); ++i)
      if (curves.allocated[i] > most && counts(curves.event[i])) most = curves.allocated[i];
    return most;
  }
  trace::Phase PhaseAt(trace::EventIndex event) const;
  // kNoEvent: the step is not in the trace, or does not end in it.
  trace::EventIndex EndOfStep(int32_t step) const;
  // Of the peak's step, where that is behind the peak; kNoEvent: there is none.
  trace::EventIndex EndOfBackward() const;
  // Blocks of the peak for which `is` holds and that no finding has claimed.
  template <class Is>
  Pile Collect(const Is& is) const {
    Pile pile;
    for (const LiveBlock& block : live)
      if (!claimed_[block.id.value] && is(block)) Put(pile, block.id, block.bytes);
    return pile;
  }
  // What one finding is about no later one is.
  void Claim(const Pile& pile) {
    for (const trace::AllocationId id : pile.blocks) claimed_[id.value] = true;
  }
  static void Put(Pile& pile, trace::AllocationId id, uint64_t bytes) {
    pile.bytes += bytes;
    ++pile.count;
    pile.blocks.push_back(id);
  }

  // "train.py:88 main" that made most of it; without stacks its module, else "".
  std::string Where(const Pile& pile) const;
  // "tuners_utils.py:1421 _cast_input_dtype" that called the operator by itself; "": a function of
  // PyTorch's did, or there are no stacks.
  std::string CallerOf(trace::AllocationId id) const;
  // Whether the block is still there when that step ends; false where the step is not in the trace.
  bool IsHeldAfter(trace::AllocationId id, int32_t step) const;
  bool HasStack(trace::AllocationId id) const;
  // What a program's hooks found kept since before the first step has the category of buffers, too:
  // true where a module neither made nor moved it.
  bool IsPersistentTensor(const LiveBlock& block) const;
  // Whether a frame of the block's stack is in a file with this in its path.
  bool HasFrameIn(trace::AllocationId id, std::string_view folder) const;
  // Whether a frame of the block's stack is in a file that ends like this, in such a function ("":
  // any).
  bool HasFrame(trace::AllocationId id, std::string_view file_end,
                std::string_view function = {}) const;

 private:
  // Whether `is` holds of a file and function of the block's stack.
  template <class Is>
  bool AnyFrame(trace::AllocationId id, const Is& is) const;

  bool steps_recorded_ = false;
  std::vector<bool> claimed_;  // by allocation
};

}  // namespace vramscope::explain
