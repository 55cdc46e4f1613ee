// Pages that are not written yet.
#include "profiler/explain/explain.h"

namespace vramscope::explain {

CallSites FindCallSites(const trace::Trace&) { return {}; }
CallSite SiteOf(const trace::Trace&, trace::AllocationId) { return {}; }
std::vector<std::string> StackLines(const trace::Trace&, trace::StackId, bool) { return {}; }
absl::StatusOr<SiteOrder> ParseSiteOrder(std::string_view) { return SiteOrder::kByteSeconds; }
std::string_view Name(SiteOrder) { return ""; }
std::vector<SiteUse> UseOfSites(const trace::Trace&, const CallSites&, const SiteUseOptions&) {
  return {};
}
void Sort(std::vector<SiteUse>&, SiteOrder) {}
std::vector<SegmentView> SegmentsAt(const trace::Trace&, trace::EventIndex) { return {}; }
Fragmentation FragmentationAt(const trace::Trace&, trace::EventIndex) { return {}; }
absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace&, const ReclaimOptions&) {
  return absl::UnimplementedError("not in this version");
}
trace::EventIndex MostUnused(const trace::Trace&) { return 0; }
Leaks FindLeaks(const trace::Trace&, const CallSites&) { return {}; }
absl::StatusOr<OutOfMemoryPage> ExplainOutOfMemory(const trace::Trace&, const OutOfMemoryOptions&) {
  return absl::UnimplementedError("not in this version");
}
std::string_view Name(TraceDiff::Change) { return ""; }
absl::StatusOr<TraceDiff> DiffTraces(const trace::Trace&, const trace::Trace&,
                                     std::optional<int32_t>) {
  return absl::UnimplementedError("not in this version");
}

}  // namespace vramscope::explain
