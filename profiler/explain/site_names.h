// Names of call sites, as analysis has them, and of a stack as a page shows it. Internal to this
// folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/analysis/site_names.h"

namespace vramscope::explain {

using analysis::BaseName;
using analysis::FunctionName;
using analysis::IsOlder;
using analysis::ModuleOpName;
using analysis::SiteNames;

// As CallSite::name, of a stack alone; "" when it says nothing.
std::string StackName(const trace::Trace& trace, trace::StackId stack);

// A call site that is going to be listed; without a stack its name stays as it is.
struct NamedStack {
  const trace::Trace* trace = nullptr;
  trace::StackId stack;
  std::string_view op;  // as SiteNames::Name takes it
  std::string* name = nullptr;
};
// Those of the same name get what tells them apart, if anything does: frames of packages within
// the program's innermost frame, else as many of its callers.
//
//   "train.py:10 <module>" twice: "conv.py:548 _conv_forward < train.py:10 <module>" and
//   "batchnorm.py:193 forward < train.py:10 <module>"
void MakeNamesDistinct(std::span<const NamedStack> sites);

}  // namespace vramscope::explain
