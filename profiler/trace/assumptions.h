// Returns the assumptions of a trace. Some follow from its configuration. The program that produced
// the trace recorded the others as markers (proto/FORMAT.md, "Kinds").
//
//   for (const run::Assumption& a : AssumptionsOf(trace)) print(a.what, a.where);
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/run/check_run.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Formats of assumptions that profiler/program records; i18n::Shown() translates the results.
inline constexpr char kLaunchesKnown[] = TEXT_MARK("{:.1f} % of {} launches run known kernels");
inline constexpr char kLaunchesPartlyKnown[] = TEXT_MARK(
    "{:.1f} % of {} launches run known kernels. The times of the other kernels are assumed from "
    "their thread counts");
inline constexpr char kNotEmulated[] =
    TEXT_MARK("{0}() is not emulated. It was called {2} times and returned {1}");

// Returns the name of the marker that records the assumption.
std::string AssumptionMarker(const run::Assumption& assumption);

// Returns the assumptions of a plan or of a run of the embedded loop. A recording has none.
// Assumptions from markers come first, in the markers' order.
std::vector<run::Assumption> AssumptionsOf(const Trace& trace);

}  // namespace vramscope::trace
