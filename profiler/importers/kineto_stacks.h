// Builds call stacks for times on host threads from the operators and Python functions that were
// running then. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/importers/kineto_events.h"
#include "profiler/trace/trace.h"

namespace vramscope::importers {

// A query for the stack at one time, and its result.
struct StackQuery {
  int64_t time_ns = 0;
  uint32_t thread = 0;
  bool only_op = false;  // the stack is not needed
  trace::StackId stack;
  trace::StringId op;  // innermost operator; 0: none
  // The innermost module: a module's span, or the module recorded with an operator. 0: none.
  trace::StringId module;
};

// Answers the queries. Sorts the spans by (thread, begin, longest first) and the queries by
// (thread, time). A span that ends after its enclosing span (in damaged files) is cut at the end of
// that span. Frames are interned into `stacks`; new strings (files, functions) are appended to
// `strings`. Stops early when the budget is exhausted.
void FillStacks(std::vector<KinetoTables::Span>& spans, std::span<StackQuery*> queries,
                std::vector<std::string>& strings, trace::StackTable& stacks,
                trace::MemoryBudget& budget);

// The parts of "torch/nn/modules/linear.py(114): forward". If a name has another form, the whole
// name is the function, and the file is empty.
struct PythonName {
  std::string_view function, file;
  uint32_t line = 0;
};
PythonName SplitPythonName(std::string_view name);

}  // namespace vramscope::importers
