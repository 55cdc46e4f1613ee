// What a trace takes for granted: by its configuration, or as the program that made it said
// (markers, kept in the file: proto/FORMAT.md, "Kinds").
//
//   for (const run::Assumption& a : AssumptionsOf(trace)) print(a.what, a.where);
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "profiler/run/check_run.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

// The name of the marker that stands for it.
std::string AssumptionMarker(const run::Assumption& assumption);

// Of a run that was planned or computed here; none of a recording. Markers first, in their order.
std::vector<run::Assumption> AssumptionsOf(const Trace& trace);

}  // namespace vramscope::trace
