// Writes a trace as the raw memory timeline of torch.profiler
// (`export_memory_timeline("x.raw.json.gz")`), which HolisticTraceAnalysis plots:
// MemoryAnalysis("x.raw.json.gz").plot_memory_timeline().
//
//   RETURN_IF_ERROR(WriteMemoryTimeline(*trace, out, {}));
//
// A gzip of one JSON list of [time_ns, action, bytes, category]. bytes: the block's size, negative
// for freed memory. torch.profiler's actions: 1 pre-existing (time -1), 2 create, 3 increment
// version, 4 destroy. A change of category is two entries of action 3: one removes the bytes from
// the old category, the other adds them to the new one. Categories: 0 Parameter, 1 Optimizer state,
// 2 Input, 3 Temporary, 4 Activation, 5 Gradient, 6 Autograd, 7 Unknown. Workspaces and
// communication buffers are written as Temporary, module buffers as Unknown.
//
// Written in one pass. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <ostream>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct MemoryTimelineOptions {
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // when true: stops with kCancelled
};

// Errors: kDataLoss if `out` cannot write the bytes (full disk); kCancelled.
// `trace` must contain one device, because the format supports only one.
absl::Status WriteMemoryTimeline(const trace::Trace& trace, std::ostream& out,
                                 const MemoryTimelineOptions& options = {});

}  // namespace vramscope::exporters
