// What `plan` and `run` say about a trace: the JSON of the contract and the text for people.
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

// Without the contract's `seconds`, which the caller measures.
Json SummaryJson(const trace::Trace& trace, const analysis::Summary& summary);
std::string SummaryText(const trace::Trace& trace, const analysis::Summary& summary);

// Pieces that other subcommands use as well.
// "4.00 GiB reserved at most", or "at once 4.00 GiB reserved + 128.00 MiB past the allocator".
std::string UseText(const analysis::CardUse& use);
Json CategoriesJson(const analysis::CategoryBytes& categories);  // those that are not zero
// step, micro_batch, phase, module, op, time_ns; the entry where the file has no times.
Json ContextJson(const trace::Trace& trace, const analysis::Context& context);
std::string ContextText(
    const analysis::Context& context);  // "step 0, backward, model.layers.3, ..."
// "12.34 ms"; "entry 5" where the file has an order and no times.
std::string TimeText(const trace::Trace& trace, int64_t time_ns);
// When, and what was going on: "12.34 ms, step 0, backward"; of a state the snapshot's moment.
std::string MomentText(const trace::Trace& trace, const analysis::Context& context);
// "1.95 GiB allocated, 2.45 GiB reserved (step 0, forward)"; where most was reserved at another
// time both moments are told apart, and what the file does not record is said.
std::string PeakText(const trace::Trace& trace, const analysis::Peak& peak);
// Times are null, or left out of the table, where the file has none.
Json StepsJson(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps);
std::string StepsTable(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps);

// What figures take for granted: [{what, where, bytes}], null where bytes are not known.
// What the program itself read of PyTorch's memory counters; the text is "" where it read none.
Json CountersJson(const trace::Trace& trace);
std::string CountersText(const trace::Trace& trace);
Json AssumptionsJson(const std::vector<run::Assumption>& assumptions);
Json EvidenceJson(const trace::Evidence& evidence);
// The same as a paragraph, with an empty line before it; "" when there is nothing.
std::string AssumptionsText(const std::vector<run::Assumption>& assumptions);

}  // namespace vramscope::cli
