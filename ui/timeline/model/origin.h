// Returns as text where a label or an allocation comes from: the rule that inferred a category,
// phase or step, or an allocation's call stack. For tooltips, panels and explain pages.
//
//   CategoryRule(*trace, id, category)       "lifetime: allocated in forward, freed in backward"
//   StackLines(*trace, stack, 4)             {"forward  model.py:123", ...}
//
// Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Returns the name of a rule, or "" for 0, which stands for a label that the trace's producer gave.
std::string RuleText(uint64_t rule);
// Returns the rule that inferred an allocation's category, or "". Linear in the number of retags.
std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category);
uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category);
// Returns the rule that inferred a step or a phase, or "" if there is none or it is another slice.
std::string SliceRule(const trace::Trace& trace, uint32_t slice);

struct StackLine {
  std::string function;
  std::string file;   // last two parts of the path, and the line
  std::string place;  // full path and line
  bool python = false;
};
// Returns at most `limit` frames of a stack (0: all). Python frames come first (the innermost
// first), then C++ frames.
std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit);
trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id);
// Returns the name that every page uses (analysis::SiteNames::Name), such as "model.py:123 forward
// > aten::mm". Returns "" without a stack.
std::string CallSite(const trace::Trace& trace, trace::StackId stack);
// Returns a name for an allocation without module and op. It is the call site or, if there is none,
// category, number and phase: "Temporary 958 · backward".
std::string NameOf(const trace::Trace& trace, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
