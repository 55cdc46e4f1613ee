// The origin of a label or an allocation as text: the rule that inferred a category, phase or step,
// and the call stack of an allocation. For tooltips, panels and explain pages.
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

// The name of a rule; "" for 0 (stated by the producer of the trace, not inferred).
std::string RuleText(uint64_t rule);
// The rule that inferred an allocation's category; "" if none did. Linear in the number of retags.
std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category);
uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category);
// The rule that inferred a step or a phase; "" for other slices and if none did.
std::string SliceRule(const trace::Trace& trace, uint32_t slice);

struct StackLine {
  std::string function;
  std::string file;   // last two parts of the path, and the line
  std::string place;  // full path and line
  bool python = false;
};
// The frames of a stack: Python frames, innermost first, then C++ frames, if any. At most `limit`
// frames (0: all).
std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit);
trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id);
// "model.py:123 forward > aten::mm": analysis::SiteNames::Name, the name that every page uses; ""
// without a stack.
std::string CallSite(const trace::Trace& trace, trace::StackId stack);
// A name for an allocation without module and op: its call site, or else its category, number and
// phase, "Temporary 958 · backward".
std::string NameOf(const trace::Trace& trace, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
