#include "profiler/analysis/step_time.h"

#include <algorithm>

#include "profiler/base/hash_map.h"
#include "profiler/trace/activities.h"

namespace vramscope::analysis {

double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps) {
  if (steps.empty()) return 0;
  const StepRow& last = steps.back();
  const StepRow* before = steps.size() > 1 ? &steps[steps.size() - 2] : nullptr;
  const int64_t from = before != nullptr ? before->begin_ns : last.begin_ns;
  const trace::ActivityTable& a = trace.activities;
  const auto first = static_cast<uint32_t>(
      std::lower_bound(a.begin_ns.begin(), a.begin_ns.end(), from) - a.begin_ns.begin());
  // Whether a launch belongs to the last step (true) or to the step before it (false). The key is
  // the correlation.
  base::HashMap<uint64_t, bool> of_last;
  for (uint32_t row = first; row < a.size() && a.begin_ns[row] < last.end_ns; ++row) {
    const bool is_call = a.kind[row] == trace::ActivityKind::kRuntimeCall ||
                         a.kind[row] == trace::ActivityKind::kDriverCall;
    const int64_t begin = a.begin_ns[row];
    const bool in_last = begin >= last.begin_ns;
    if (is_call && a.correlation[row] != 0 && (in_last || begin < before->end_ns))
      of_last.try_emplace(a.correlation[row], in_last);
  }
  int64_t begin = last.begin_ns, end = last.end_ns;
  for (uint32_t row = first; row < a.size(); ++row) {
    if (!trace::IsOfDevice(a.kind[row])) continue;
    const auto found = of_last.find(a.correlation[row]);
    if (found == of_last.end()) continue;
    int64_t& done = found->second ? end : begin;
    done = std::max(done, int64_t{a.end_ns[row]});
  }
  return static_cast<double>(end - begin) * 1e-6;
}

}  // namespace vramscope::analysis
