// Sums the device's work by name, op, module, phase, step, stream or kind, for `vramscope kernels`
// and the window's kernels page. Also finds properties of single activities.
//
//   const ActivityIndex index(trace);
//   const KernelSums sums = SumKernels(index, KernelsBy::kName);
//   sums.sums[0].name;            // the kernel name with the longest time, "void at::native::..."
//   sums.sums[sums.sum_of[row]];  // the sum that includes a row of Trace::activities
//
// Work means kernels, memcpys, memsets and collectives. Times are sums of durations, so work that
// runs at the same time on two streams counts twice. A share is a fraction of the total sum. Pure
// functions of an immutable index; thread-safe. Linear in the number of activities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/query/activity_index.h"
#include "profiler/query/filter.h"

namespace vramscope::query {

// Whether the kind is work of the device: kernels, memcpys, memsets and collectives.
bool IsDeviceWork(trace::ActivityKind kind);

// Properties of an activity; empty if unknown.
std::string ActivityName(const trace::Trace& trace, uint32_t activity);  // full name
// Returns the op in whose slice the activity was launched. If there is none, returns the op
// recorded with the activity.
std::string_view OpOf(const ActivityIndex& index, uint32_t activity);
std::string_view ModuleOf(const ActivityIndex& index, uint32_t activity);
std::string_view PhaseOf(const ActivityIndex& index, uint32_t activity);
int64_t StepOf(const ActivityIndex& index, uint32_t activity);  // -1: outside of steps
inline int64_t TakesOf(const trace::Trace& trace, uint32_t activity) {
  return trace.activities.end_ns[activity] - trace.activities.begin_ns[activity];
}

enum class KernelsBy : uint8_t { kName, kOp, kModule, kPhase, kStep, kStream, kKind };
inline constexpr KernelsBy kKernelsBy[] = {KernelsBy::kName,  KernelsBy::kOp,   KernelsBy::kModule,
                                           KernelsBy::kPhase, KernelsBy::kStep, KernelsBy::kStream,
                                           KernelsBy::kKind};
std::string_view Name(KernelsBy by);  // "name"
std::optional<KernelsBy> ParseKernelsBy(std::string_view name);

struct KernelSum {
  std::string name;  // empty: unknown
  uint64_t count = 0;
  int64_t takes_ns = 0;
  uint64_t bytes = 0;         // moved by memcpys, memsets and collectives; unknown for kernels
  uint32_t longest = kNoRow;  // the longest activity (the first, if several last as long)
  double mean_ns() const {
    return count == 0 ? 0 : static_cast<double>(takes_ns) / static_cast<double>(count);
  }
};

struct KernelSums {
  std::vector<KernelSum> sums;  // longest time first, then by name
  int64_t takes_ns = 0;         // total time of all sums
  uint64_t count = 0;
  std::vector<uint32_t> sum_of;               // activity -> row of `sums`; kNoRow: not counted
  double share(const KernelSum& sum) const {  // 0 to 1
    return takes_ns <= 0 ? 0 : static_cast<double>(sum.takes_ns) / static_cast<double>(takes_ns);
  }
};

// Sums the work that matches the filter and begins in [begin_ns, end_ns). If begin_ns >= end_ns,
// sums all work that matches the filter.
KernelSums SumKernels(const ActivityIndex& index, KernelsBy by, int64_t begin_ns = 0,
                      int64_t end_ns = 0, const Filter& filter = {});

}  // namespace vramscope::query
