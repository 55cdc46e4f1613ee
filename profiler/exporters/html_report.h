// Writes one HTML page about a run, or about a comparison of two runs: key figures, memory over
// time, the peak by category, module and call site, findings, steps, kernels, settings and the
// command line. Readers of the page need no vramscope.
//
//   out << HtmlReport(trace, {.title = "train.py", .command = "vramscope plan --preset ..."});
//
// The page is self-contained: no script, no external files (curves are inline SVG). It can be
// printed, and follows the browser's light or dark theme. All text of the trace is escaped. The
// trace must contain one device (trace/one_device.h). Pure function; thread-safe. Takes about a
// second for some millions of events.
#pragma once

#include <memory>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct HtmlReportOptions {
  std::string title = {};    // "": the program, or the model
  std::string command = {};  // a command that shows the same report; "": none
  // The run to compare with, if any.
  std::shared_ptr<const trace::Trace> baseline = {};
  std::string baseline_title = {};
  size_t rows = 20;  // maximum number of rows in a table
};
std::string HtmlReport(const std::shared_ptr<const trace::Trace>& trace,
                       const HtmlReportOptions& options = {});

}  // namespace vramscope::exporters
