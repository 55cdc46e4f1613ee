// A run, or two compared, as one page of HTML that is read without vramscope: key figures, memory
// over time, the peak by category, module and call site, what explain finds, steps, kernels,
// settings, the command that made it.
//
//   out << HtmlReport(trace, {.title = "train.py", .command = "vramscope plan --preset ..."});
//
// Self-contained: no script, nothing is fetched (curves are SVG in the page); prints well; light or
// dark as the reader's browser prefers. Whatever text comes from the trace is escaped. One device:
// of several, a slice (trace/one_device.h). Pure function; thread-safe. Reads the whole trace a few
// times: a second for some millions of events.
#pragma once

#include <memory>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct HtmlReportOptions {
  std::string title = {};    // any text; "": what ran, or the model
  std::string command = {};  // that shows the same, as typed; "": none
  // What it is compared with; null: nothing.
  std::shared_ptr<const trace::Trace> baseline = {};
  std::string baseline_title = {};
  size_t rows = 20;  // of a table, at most
};
std::string HtmlReport(const std::shared_ptr<const trace::Trace>& trace,
                       const HtmlReportOptions& options = {});

}  // namespace vramscope::exporters
