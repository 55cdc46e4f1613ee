// Aligns two runs. Maps a time of one run to the corresponding time of another run, and finds the
// allocation of a new run that corresponds to an allocation of an old run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/query/level_of_detail.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Maps times of run `a` to times of run `b`, both relative to the begin of their run. The begin and
// end of a phase are mapped to the begin and end of the same phase in `b`, and the times between
// them linearly. If the runs have no phase in common, each time is mapped to itself.
class TimeMap {
 public:
  TimeMap() = default;
  TimeMap(const trace::Trace& a, const trace::Trace& b);
  double Map(double a) const;
  size_t anchors() const { return a_.size(); }

 private:
  std::vector<double> a_, b_;  // corresponding times of both runs; each vector is ascending
};

// Returns whether two traces have the same model, batch, sequence length and backend. If the user
// has not chosen a baseline, a trace is drawn as the baseline only if this is true.
bool SameWork(const trace::TraceInfo& a, const trace::TraceInfo& b);
// Returns whether the view stays when `b` replaces `a`. It stays if SameWork() is true, or if both
// are from the same file (such as a larger or smaller part of it, or another device).
bool SameSubject(const trace::TraceInfo& a, const trace::TraceInfo& b);

// For each column of the displayed trace, the baseline's highest allocated bytes. Column i reaches
// from edge i to edge i + 1 of CurveIndex::Edges, in times of the displayed trace.
struct BaselineColumns {
  std::vector<uint64_t> allocated;
  int end = 0;  // the first column beyond the baseline's end
};
BaselineColumns BaselineUnder(const trace::Trace& shown, const trace::Trace& baseline,
                              const query::CurveIndex& baseline_curves, const TimeMap& map,
                              std::span<const int64_t> edges);

// Identifies an allocation, so that it is found again in a run with other settings.
struct AllocationKey {
  std::string module, op;
  int32_t step = -1;
  uint32_t occurrence = 0;  // the allocation's number among those with the same module, op and step
  bool valid() const { return !module.empty() || !op.empty(); }
};
AllocationKey KeyOf(const trace::Trace& trace, trace::AllocationId id);
// Returns the allocation with this key. If only other steps have such an allocation, returns that
// of the last of these steps. If no step has it, returns an invalid id.
trace::AllocationId FindAllocation(const trace::Trace& trace, const AllocationKey& key);

}  // namespace vramscope::ui::timeline
