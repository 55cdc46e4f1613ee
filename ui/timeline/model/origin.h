// Returns as text where a label or an allocation comes from: the rule that inferred a category,
// phase or step, or an allocation's call stack. The texts are for tooltips, panels and explain
// pages.
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

// Returns the name of a rule. Returns "" for rule 0, which means that the trace's producer gave the
// label.
std::string RuleText(uint64_t rule);
// Returns the rule that inferred an allocation's category, or "" if it was not inferred. Takes time
// proportional to the number of retags.
std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category);
uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category);
// Returns the rule that inferred a step or a phase. Returns "" if there is none, or if the slice is
// of another kind.
std::string SliceRule(const trace::Trace& trace, uint32_t slice);

struct StackLine {
  std::string function;
  std::string file;   // the last two parts of the path, and the line
  std::string place;  // the whole path, and the line
  bool python = false;
};
// Returns the frames of a stack, at most `limit` of them (0: all). First come the Python frames,
// with the innermost first, then the C++ frames.
std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit);
trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id);
// Returns the stack's name, which is the same on every page (analysis::SiteNames::Name), such as
// "model.py:123 forward > aten::mm". Returns "" if there is no stack.
std::string CallSite(const trace::Trace& trace, trace::StackId stack);
// Returns a name for an allocation that has no module and op. The name is the call site or, if
// there is none, category, number and phase: "Temporary 958 · backward".
std::string NameOf(const trace::Trace& trace, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
