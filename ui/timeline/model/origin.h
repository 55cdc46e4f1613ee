// Returns the origin of a label or an allocation as text: which rule inferred a category, phase or
// step, or the call stack of an allocation. For tooltips, panels and explain pages.
//
//   CategoryRule(*trace, id, category)       "lifetime: born in forward, freed in backward"
//   StackLines(*trace, stack, 4)             {"forward  model.py:123", ...}
//
// Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Returns the name of a rule; "" for 0, which means that the trace's producer states the label.
std::string RuleText(uint64_t rule);
// Returns the rule that inferred an allocation's category, or "". Linear in the number of retags.
std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category);
uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category);
// Returns the rule that inferred a step or a phase. Empty for other slices and without a rule.
std::string SliceRule(const trace::Trace& trace, uint32_t slice);

struct StackLine {
  std::string function;
  std::string file;   // last two parts of the path, and the line
  std::string place;  // full path and line
  bool python = false;
};
// Returns at most `limit` frames of a stack (0: all). Python frames come first, the innermost first
// of them, then C++ frames.
std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit);
trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id);
// Returns analysis::SiteNames::Name, which every page uses, such as "model.py:123 forward >
// aten::mm". Empty: there is no stack.
std::string CallSite(const trace::Trace& trace, trace::StackId stack);
// Returns a name for an allocation without module and op. It is the call site or, without one,
// category, number and phase: "Temporary 958 · backward".
std::string NameOf(const trace::Trace& trace, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
