// The memory of a trace over time as a picture: categories stacked, in the colours of PyTorch's
// memory timeline, with the reserved memory as a line over them and a mark at the peak.
//
//   out << MemorySvg(trace, {.title = "train.py"});
//
// Self-contained (no script, nothing is fetched), light or dark as the reader's browser prefers.
// One device: of several, a slice (trace/one_device.h). Pure function; thread-safe. A few tens of
// KiB, however long the trace.
#pragma once

#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct MemorySvgOptions {
  int width = 760;
  int height = 320;
  std::string title = {};  // any text; "": none
};
std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options = {});

}  // namespace vramscope::exporters
