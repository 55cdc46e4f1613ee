// What a trace takes for granted beside its configuration: markers of the program that made it,
// kept in the file (proto/FORMAT.md, "Kinds").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

struct Assumption {
  std::string what;    // a sentence without its full stop
  std::string where;   // "train.py:12", "libcudnn: cudnnFind...": what it is about
  uint64_t bytes = 0;  // how much it is, where that is known
};

// The name of the marker that stands for it.
std::string AssumptionMarker(const Assumption& assumption);

// In the order of the trace.
std::vector<Assumption> AssumptionsOf(const Trace& trace);

}  // namespace vramscope::trace
