#include "profiler/query/things.h"

#include <array>

namespace vramscope::query {

using trace::ActivityKind;
using trace::SliceKind;

std::string_view Name(ThingKind kind) {
  static constexpr std::array<std::string_view, kThingKindCount> kNames = {
      "block",           "kernel",        "copy",        "fill",     "collective", "call",
      "synchronization", "driver memory", "range",       "overhead", "op",         "module",
      "annotation",      "phase",         "micro-batch", "step"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<ThingKind> ThingKindOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return ThingKind::kKernel;
    case ActivityKind::kMemcpy:
      return ThingKind::kCopy;
    case ActivityKind::kMemset:
      return ThingKind::kFill;
    case ActivityKind::kCollective:
      return ThingKind::kCollective;
    case ActivityKind::kRuntimeCall:
    case ActivityKind::kDriverCall:
      return ThingKind::kCall;
    case ActivityKind::kSynchronization:
      return ThingKind::kSynchronization;
    case ActivityKind::kDriverAlloc:
    case ActivityKind::kDriverFree:
      return ThingKind::kDriverMemory;
    case ActivityKind::kRange:
      return ThingKind::kRange;
    case ActivityKind::kOverhead:
      return ThingKind::kOverhead;
    case ActivityKind::kCounter:
    case ActivityKind::kOperand:
      break;
  }
  return std::nullopt;
}

ThingKind ThingKindOf(SliceKind kind) {
  switch (kind) {
    case SliceKind::kStep:
      return ThingKind::kStep;
    case SliceKind::kMicroBatch:
      return ThingKind::kMicroBatch;
    case SliceKind::kPhase:
      return ThingKind::kPhase;
    case SliceKind::kModule:
      return ThingKind::kModule;
    case SliceKind::kOp:
      return ThingKind::kOp;
    case SliceKind::kAnnotation:
      break;
  }
  return ThingKind::kAnnotation;
}

int64_t BeginOf(const trace::Trace& trace, const Thing& thing) {
  return thing.block()      ? trace.allocations.begin_ns[thing.row]
         : thing.activity() ? trace.activities.begin_ns[thing.row]
                            : trace.slices.begin_ns[thing.row];
}

int64_t EndOf(const trace::Trace& trace, const Thing& thing) {
  return thing.block()      ? trace.allocations.end_ns[thing.row]
         : thing.activity() ? trace.activities.end_ns[thing.row]
                            : trace.slices.end_ns[thing.row];
}

}  // namespace vramscope::query
