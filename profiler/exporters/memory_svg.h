// The memory of a trace over time as a picture: categories stacked, in the colours of PyTorch's
// memory timeline, with the reserved memory as a line over them.
//
//   out << MemorySvg(trace);
//
// Pure function; thread-safe. A few tens of KiB, however long the trace.
#pragma once

#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct MemorySvgOptions {
  int width = 720;
  int height = 220;
};
std::string MemorySvg(const trace::Trace& trace, const MemorySvgOptions& options = {});

}  // namespace vramscope::exporters
