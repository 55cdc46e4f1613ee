// Where a label or an allocation comes from, as text: the rule that a category, phase or step was
// inferred by, and the call stack that asked for memory. For tooltips, panels and explain pages.
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

// What a rule's number is called; "" for 0 (the producer said it).
std::string RuleText(uint64_t rule);
// The rule by which an allocation has a category; "" when it was said. Linear in the retags.
std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category);
uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category);
// Of a step or a phase; "" for other slices and for what was said.
std::string SliceRule(const trace::Trace& trace, uint32_t slice);

struct StackLine {
  std::string function;
  std::string file;   // last two parts of its path, with the line
  std::string place;  // whole path, with the line
  bool python = false;
};
// The frames of a stack: those of Python innermost first, then the others (C++), when there are
// any. At most `limit` (0: all).
std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit);
trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id);
// "model.py:123 forward > aten::mm": analysis::SiteNames::Name, the rule of every page; "" without
// a stack.
std::string CallSite(const trace::Trace& trace, trace::StackId stack);
// Of an allocation without module and op: its call site, or a number.
std::string NameOf(const trace::Trace& trace, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
