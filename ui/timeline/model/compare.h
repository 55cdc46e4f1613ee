// Aligns two runs: maps the times of one run to those of the other, and finds the allocation of a
// new run that corresponds to an allocation of the old run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/query/level_of_detail.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Maps times of run `a` to times of run `b` (each relative to its run's begin). The begins and ends
// of phases that both runs have are mapped to each other, and times between them linearly. Without
// common phases, a time is mapped to the same time.
class TimeMap {
 public:
  TimeMap() = default;
  TimeMap(const trace::Trace& a, const trace::Trace& b);
  double Map(double a) const;
  size_t anchors() const { return a_.size(); }

 private:
  std::vector<double> a_, b_;  // both ascending
};

// Whether two traces are of the same work: the same model, batch, sequence length and backend. A
// baseline that was not chosen by the user is drawn only if it did the run's work.
bool SameWork(const trace::TraceInfo& a, const trace::TraceInfo& b);
// Whether the view stays when `b` replaces `a`: both are of the same work, or of the same file,
// from which `b` shows a larger part, a smaller part or another device.
bool SameSubject(const trace::TraceInfo& a, const trace::TraceInfo& b);

// The baseline's highest allocated bytes in each column of the displayed trace. Column i lies
// between edges i and i + 1 of CurveIndex::Edges, which are times of the displayed trace.
struct BaselineColumns {
  std::vector<uint64_t> allocated;
  int end = 0;  // the first column beyond the baseline's end
};
BaselineColumns BaselineUnder(const trace::Trace& shown, const trace::Trace& baseline,
                              const query::CurveIndex& baseline_curves, const TimeMap& map,
                              std::span<const int64_t> edges);

// Finds the same allocation again when the run is repeated with other settings.
struct AllocationKey {
  std::string module, op;
  int32_t step = -1;
  uint32_t occurrence = 0;  // its number among the allocations of the same module, op and step
  bool valid() const { return !module.empty() || !op.empty(); }
};
AllocationKey KeyOf(const trace::Trace& trace, trace::AllocationId id);
// Returns an invalid id if the trace has no such allocation. If it has one in other steps only,
// returns the allocation of the last of these steps.
trace::AllocationId FindAllocation(const trace::Trace& trace, const AllocationKey& key);

}  // namespace vramscope::ui::timeline
