// Bringing two runs together: which moment of one is which of the other, and which allocation of a
// new run is the one that was selected in the old.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/query/level_of_detail.h"
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

// Whether two traces tell of the same work: runs of one model on input of one shape, by the same
// backend. Only then may one be drawn behind the other, on one axis, without having been asked for.
bool SameWork(const trace::TraceInfo& a, const trace::TraceInfo& b);
// Whether one trace takes the place of another before the same eyes: the same work, or more, less
// or another device of the same file. What was looked at then stays in view.
bool SameSubject(const trace::TraceInfo& a, const trace::TraceInfo& b);

// What a ghost had allocated at most under each column of the shown trace: between edge i and
// edge i + 1 (times of the shown trace, as CurveIndex::Edges gives them).
struct GhostColumns {
  std::vector<uint64_t> allocated;
  int end = 0;  // columns before it lie within the ghost; from there on there is none
};
GhostColumns GhostUnder(const trace::Trace& shown, const trace::Trace& ghost,
                        const query::CurveIndex& ghost_curves, const TimeMap& map,
                        std::span<const int64_t> edges);

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
