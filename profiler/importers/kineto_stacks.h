// Call stacks for moments on host threads, from the operators and Python functions that were
// running then. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/importers/kineto_events.h"
#include "profiler/trace/trace.h"

namespace vramscope::importers {

// A moment whose stack is asked for, and the answer.
struct StackQuery {
  int64_t time_ns = 0;
  uint32_t thread = 0;
  bool only_op = false;  // the stack is not asked for
  trace::StackId stack;
  trace::StringId op;      // innermost operator; 0: none
  trace::StringId module;  // the innermost, or that of the operator; 0: none
};

// Spans that break the nesting of their thread (damage) end with what they began in. Puts the spans
// in order (thread, begin, longest first) and answers the queries, which it sorts by (thread,
// time). Frames are interned into `stacks`, new strings (files, functions) appended to `strings`.
// Ends before its time when the budget is spent.
void FillStacks(std::vector<KinetoTables::Span>& spans, std::span<StackQuery*> queries,
                std::vector<std::string>& strings, trace::StackTable& stacks,
                trace::MemoryBudget& budget);

// "torch/nn/modules/linear.py(114): forward" in its parts; other names are a function of no file.
struct PythonName {
  std::string_view function, file;
  uint32_t line = 0;
};
PythonName SplitPythonName(std::string_view name);

}  // namespace vramscope::importers
