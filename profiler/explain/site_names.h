// Names of call sites, as analysis has them, and of a stack as a page shows it. Internal to this
// folder.
#pragma once

#include <string>

#include "profiler/analysis/site_names.h"

namespace vramscope::explain {

using analysis::BaseName;
using analysis::FunctionName;
using analysis::IsOlder;
using analysis::ModuleOpName;
using analysis::SiteNames;

// As CallSite::name, of a stack alone; "" when it says nothing.
std::string StackName(const trace::Trace& trace, trace::StackId stack);

}  // namespace vramscope::explain
