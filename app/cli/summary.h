// What `plan` and `run` say about a trace: the JSON of the contract and the text for people.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

// Without the contract's `seconds`, which the caller measures.
Json SummaryJson(const trace::Trace& trace, const analysis::Summary& summary);
std::string SummaryText(const trace::Trace& trace, const analysis::Summary& summary);

// Pieces that other subcommands use as well.
Json CategoriesJson(const analysis::CategoryBytes& categories);  // those that are not zero
Json ContextJson(
    const analysis::Context& context);  // step, micro_batch, phase, module, op, time_ns
std::string ContextText(
    const analysis::Context& context);  // "step 0, backward, model.layers.3, ..."
Json StepsJson(const std::vector<analysis::StepRow>& steps);
std::string StepsTable(const std::vector<analysis::StepRow>& steps);

}  // namespace vramscope::cli
