// Writes a trace as Chrome trace JSON in the dialect of PyTorch's profiler (Kineto), for Perfetto,
// HolisticTraceAnalysis and the TensorBoard plugin.
//
//   std::ofstream out("run.json", std::ios::binary);
//   RETURN_IF_ERROR(WriteChromeTrace(*trace, out));
//
// Contents:
//  - complete events ("X") that nest on every track: `ProfilerStep#N`, `## forward ##` and the
//    other phases, micro-batches and modules as user_annotation; operators as cpu_op;
//  - for a plan: one kernel for every innermost operator that takes time, and its launch, which
//    HolisticTraceAnalysis requires. Both have "modelled": true, because their times are modelled;
//  - `[memory]` and `[OutOfMemory]` instants as PyTorch writes them (the bytes of a free are
//    negative), with the block's category at that time. If the block had another category for most
//    of its life, that category is added as "Held as";
//  - counters ("C"): one track per category, and allocated, reserved and device memory. At every
//    time the categories add up to the allocated bytes.
//
// Times are microseconds with three decimals from baseTimeNanoseconds. Events at the same time get
// times that differ by a nanosecond (see ShownTimes in spans.h); all other events keep their time.
// `## forward ##` includes the loss, as in the table of phases; `## end ##` lasts from the end of a
// step's last main phase to the end of the step.
//
// Writes in one pass, so it needs memory for the slices, but not for the text. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <ostream>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Errors: kDataLoss if `out` cannot write the text (full disk).
absl::Status WriteChromeTrace(const trace::Trace& trace, std::ostream& out);

}  // namespace vramscope::exporters
