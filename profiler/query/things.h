// Everything that is drawn, as one thing of a kind: a block, a kernel, a copy, a call, an op, a
// module. What a search finds and what a filter asks about.
//
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/trace/trace.h"

namespace vramscope::query {

// In the order in which results are listed.
enum class ThingKind : uint8_t {
  kBlock,  // row of Trace::allocations
  // Rows of Trace::activities:
  kKernel,
  kCopy,
  kFill,
  kCollective,
  kCall,  // of the runtime or the driver
  kSynchronization,
  kDriverMemory,  // cudaMalloc, cudaFree
  kRange,         // that the program named (NVTX)
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

// nullopt: it is not a thing (a counter's value, an operand).
std::optional<ThingKind> ThingKindOf(trace::ActivityKind kind);
ThingKind ThingKindOf(trace::SliceKind kind);

// When it begins and ends, by the trace's clock.
int64_t BeginOf(const trace::Trace& trace, const Thing& thing);
int64_t EndOf(const trace::Trace& trace, const Thing& thing);

}  // namespace vramscope::query
