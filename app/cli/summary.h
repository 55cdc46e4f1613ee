// Formats what `plan` and `run` print about a trace: the documented JSON, and text for users.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/analysis/analysis.h"
#include "profiler/run/check_run.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {
struct Evidence;
}

namespace vramscope::cli {

// Leaves out the key `seconds`, which the caller measures.
Json SummaryJson(const trace::Trace& trace, const analysis::Summary& summary);
std::string SummaryText(const trace::Trace& trace, const analysis::Summary& summary);

// Other subcommands also use the following functions. UseText returns for example "4.00 GiB
// reserved at most" or "at one time 4.00 GiB reserved + 128.00 MiB outside the allocator".
std::string UseText(const analysis::GpuUse& use);
Json CategoriesJson(const analysis::CategoryBytes& categories);  // only nonzero ones
// Keys: step, micro_batch, phase, module, op, time_ns (the entry's number if there are no times).
Json ContextJson(const trace::Trace& trace, const analysis::Context& context);
std::string ContextText(
    const analysis::Context& context);  // "step 0, backward, model.layers.3, ..."
// Returns for example "12.34 ms", or "entry 5" if the file has only the order of events.
std::string TimeText(const trace::Trace& trace, int64_t time_ns);
// Returns for example "12.34 ms, step 0, backward". For a snapshot without history, returns the
// time at which it was taken.
std::string TimeAndContextText(const trace::Trace& trace, const analysis::Context& context);
// Returns for example "1.95 GiB allocated, 2.45 GiB reserved (step 0, forward)". If the two peaks
// are at different times, gives both times. If reserved memory is not recorded, says so.
std::string PeakText(const trace::Trace& trace, const analysis::Peak& peak);
// If the file has no times, they are null in the JSON and left out of the table.
Json StepsJson(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps);
std::string StepsTable(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps);

// Return the PyTorch memory counters that the program itself read. The text is "" if there are
// none. AssumptionsJson() returns the assumptions of the figures, with null for unknown bytes.
Json CountersJson(const trace::Trace& trace);
std::string CountersText(const trace::Trace& trace);
Json AssumptionsJson(const std::vector<run::Assumption>& assumptions);
Json EvidenceJson(const trace::Evidence& evidence);
// Returns the assumptions as a paragraph after an empty line, or "" if there are none.
std::string AssumptionsText(const std::vector<run::Assumption>& assumptions);

}  // namespace vramscope::cli
