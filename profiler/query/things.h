// A thing is anything that is drawn: a block, a kernel, a memcpy, an API call, an op, a module, ...
// Searches return things, and filters test them.
//
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/trace/trace.h"

namespace vramscope::query {

// The kinds, in the order in which results are listed.
enum class ThingKind : uint8_t {
  kBlock,  // row of Trace::allocations
  // Rows of Trace::activities:
  kKernel,
  kCopy,
  kFill,
  kCollective,
  kCall,  // API call of the runtime or driver
  kSynchronization,
  kDriverMemory,  // cudaMalloc, cudaFree
  kRange,         // range named by the program (NVTX)
  kOverhead,
  // Rows of Trace::slices:
  kOp,
  kModule,
  kAnnotation,
  kPhase,
  kMicroBatch,
  kStep,
};
inline constexpr int kThingKindCount = 16;
std::string_view Name(ThingKind kind);  // "kernel"

struct Thing {
  ThingKind kind = ThingKind::kBlock;
  uint32_t row = 0;
  bool block() const { return kind == ThingKind::kBlock; }
  bool activity() const { return kind > ThingKind::kBlock && kind < ThingKind::kOp; }
  bool slice() const { return kind >= ThingKind::kOp; }
  friend bool operator==(const Thing&, const Thing&) = default;
};

// Returns nullopt for kinds of activities that are not things: counters and operands.
std::optional<ThingKind> ThingKindOf(trace::ActivityKind kind);
ThingKind ThingKindOf(trace::SliceKind kind);

// Return the begin and the end of a thing, on the trace's clock.
int64_t BeginOf(const trace::Trace& trace, const Thing& thing);
int64_t EndOf(const trace::Trace& trace, const Thing& thing);

}  // namespace vramscope::query
