// What a run does between its training steps: evaluates, generates, reads and writes checkpoints.
//
//   for (const OutsideRow& row : OutsideSteps(trace, ComputeCurves(trace))) ...
//
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Phases of one kind that follow each other in no step are one row: the batches of an evaluation.
struct OutsideRow {
  trace::Phase phase = trace::Phase::kNone;
  int32_t after_step = -1;  // -1: before the first
  uint32_t count = 0;       // phases
  int64_t begin_ns = 0, end_ns = 0;
  double total_ms = 0;  // of the phases alone
  uint64_t peak_allocated = 0, peak_reserved = 0;
};
// In order. What is fetched for them is no row of its own.
std::vector<OutsideRow> OutsideSteps(const trace::Trace& trace, const MemoryCurves& curves);

}  // namespace vramscope::analysis
