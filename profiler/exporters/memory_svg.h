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

struct MemorySvgOptions {
  int width = 760;
  int height = 320;
  std::string title = {};  // "": none
};
std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options = {});

}  // namespace vramscope::exporters
