// Bringing two runs together: which moment of one is which of the other, and which allocation of a
// new run is the one that was selected in the old.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Times of run `a` as times of run `b` (each from its own begin), so that the same phase of the
// same step lies at the same place: linear between the begins and ends of the phases that both
// have. Without common phases: both begins together, same speed.
class TimeMap {
 public:
  TimeMap() = default;
  TimeMap(const trace::Trace& a, const trace::Trace& b);
  double Map(double a) const;
  size_t anchors() const { return a_.size(); }

 private:
  std::vector<double> a_, b_;  // both rise
};

// What stays the same of an allocation when the run is made again with other settings.
struct AllocationKey {
  std::string module, op;
  int32_t step = -1;
  uint32_t occurrence = 0;  // among those of the same module, op and step
  bool valid() const { return !module.empty() || !op.empty(); }
};
AllocationKey KeyOf(const trace::Trace& trace, trace::AllocationId id);
// Invalid when the trace has none. A missing step is looked for in the last one that has it.
trace::AllocationId FindAllocation(const trace::Trace& trace, const AllocationKey& key);

}  // namespace vramscope::ui::timeline
