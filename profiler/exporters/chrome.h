// A trace as Chrome-trace JSON in the dialect of PyTorch's profiler (Kineto), for Perfetto,
// HolisticTraceAnalysis and the TensorBoard plugin.
//
//   std::ofstream out("run.json", std::ios::binary);
//   RETURN_IF_ERROR(WriteChromeTrace(*trace, out));
//
// What is in it:
//   - complete events ("X") that nest on every track: `ProfilerStep#N`, `## forward ##` and the
//   other
//     phases, micro-batches and modules as user_annotation; operators as cpu_op;
//   - of a planned run, where times are modelled, one kernel for every innermost operator that
//   takes
//     time, with the launch that HolisticTraceAnalysis wants beside it; both say "modelled": true;
//   - `[memory]` and `[OutOfMemory]` instants as PyTorch writes them (block sizes; a free is
//   negative), with the category at that moment and, where a block was for most of its life
//   something else than at its birth, that ("Held as");
//   - counters ("C"): one track a category, and allocated, reserved, used on the device. At every
//     moment the categories add up to the allocated bytes.
//
// Times are microseconds with three decimals from baseTimeNanoseconds. Events at one and the same
// moment are set a nanosecond apart (ShownTimes in spans.h says why); all others keep their time.
// `## forward ##` covers the loss, as in the phase table; `## end ##` lasts from the end of a
// step's last main phase to the end of the step.
//
// Written in one pass; needs memory for the slices only, not for the text. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <ostream>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Errors: kDataLoss when `out` refuses the text (full disk).
absl::Status WriteChromeTrace(const trace::Trace& trace, std::ostream& out);

}  // namespace vramscope::exporters
