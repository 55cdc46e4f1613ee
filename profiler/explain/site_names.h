// Names of call sites and stacks, built on analysis/site_names.h. Internal to this folder.
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

// Returns the name of a stack, in the format of CallSite::name, or "" if it has no usable frame.
std::string StackName(const trace::Trace& trace, trace::StackId stack);

// A call site in a list. The name of a site without a stack stays unchanged.
struct NamedStack {
  const trace::Trace* trace = nullptr;
  trace::StackId stack;
  std::string_view op;  // as for SiteNames::Name
  std::string* name = nullptr;
};
// Extends equal names until they differ, if possible: by frames of packages that the program's
// innermost frame called, or else by callers of that frame. Two "train.py:10 <module>" become:
//
//   "conv.py:548 _conv_forward < train.py:10 <module>"
//   "batchnorm.py:193 forward < train.py:10 <module>"
void MakeNamesDistinct(std::span<const NamedStack> sites);

}  // namespace vramscope::explain
