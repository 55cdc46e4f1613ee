// Aligns two runs: maps the times of one to the other, and finds the allocation of a new run that
// corresponds to the selected one of the old run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/query/level_of_detail.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Maps times of run `a` to times of run `b` (each from its own begin), so that the same phase of
// the same step is at the same place. Linear between the begins and ends of the phases that both
// runs have. Without common phases both runs start together at the same speed.
class TimeMap {
 public:
  TimeMap() = default;
  TimeMap(const trace::Trace& a, const trace::Trace& b);
  double Map(double a) const;
  size_t anchors() const { return a_.size(); }

 private:
  std::vector<double> a_, b_;  // both ascending
};

// Whether two traces have the same work: the same model, batch, sequence length and backend. A
// baseline that the user has not chosen is drawn only if this is true.
bool SameWork(const trace::TraceInfo& a, const trace::TraceInfo& b);
// Whether the view stays when `b` replaces `a`: both have the same work, or `b` is a larger part, a
// smaller part or another device of the same file.
bool SameSubject(const trace::TraceInfo& a, const trace::TraceInfo& b);

// The highest allocated bytes of the baseline for each column of the displayed trace: between edge
// i and edge i + 1 (in times of the displayed trace, from CurveIndex::Edges).
struct BaselineColumns {
  std::vector<uint64_t> allocated;
  int end = 0;  // columns from here on are beyond the baseline's end
};
BaselineColumns BaselineUnder(const trace::Trace& shown, const trace::Trace& baseline,
                              const query::CurveIndex& baseline_curves, const TimeMap& map,
                              std::span<const int64_t> edges);

// Identifies an allocation in a repeated run with other settings.
struct AllocationKey {
  std::string module, op;
  int32_t step = -1;
  uint32_t occurrence = 0;  // its number among the allocations of the same module, op and step
  bool valid() const { return !module.empty() || !op.empty(); }
};
AllocationKey KeyOf(const trace::Trace& trace, trace::AllocationId id);
// Returns an invalid id if the trace has no such allocation. If only the step is missing, returns
// the allocation of the last step that has one.
trace::AllocationId FindAllocation(const trace::Trace& trace, const AllocationKey& key);

}  // namespace vramscope::ui::timeline
