// Draws the memory of a trace over time as an SVG: stacked categories in the colors of PyTorch's
// memory timeline, the reserved memory as a line above them, and a mark at the peak.
//
//   out << MemorySvg(trace, {.title = "train.py"});
//
// Self-contained (no script, no external files), light or dark as the browser prefers. The trace
// must contain one device (trace/one_device.h). Pure function; thread-safe. The size is a few tens
// of KiB for any trace.
#pragma once

#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// The ends of the axes, used to give two pictures the same axes.
struct MemoryAxes {
  uint64_t bytes = 0;
  int64_t length_ns = 0;
};
// Returns the ends of the axes for a picture of this trace alone.
MemoryAxes MemoryAxesOf(const trace::Trace& trace);

struct MemorySvgOptions {
  int width = 760;
  int height = 320;
  std::string title = {};    // "": none
  MemoryAxes at_least = {};  // the axes are at least this long
};
std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options = {});

}  // namespace vramscope::exporters
