// From what a program did, outermost first, to steps, micro-batches and phases.
//
// A step ends with its optimizer's, and with the gradients set to zero right after it where the
// program does not do that first of all; what comes between two scopes belongs to the phase that
// the next one makes it (data before a forward, loss before a backward, optimizer before its step).
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/program/marks.h"
#include "profiler/trace/types.h"

namespace vramscope::program {

// A moment at a mark, before or behind it; in order.
struct Edge {
  uint32_t mark = 0;
  bool behind = false;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

struct PhaseSpan {
  trace::Phase phase = trace::Phase::kNone;
  Edge begin, end;
};
struct MicroBatchSpan {
  uint32_t number = 0;  // in its step
  Edge begin, end;
};
struct StepSpan {
  uint32_t number = 0;
  Edge begin, end;
  std::vector<MicroBatchSpan> micro_batches;  // none: there is only one
  bool whole = false;                         // an optimizer stepped
};

struct Steps {
  std::vector<StepSpan> steps;
  std::vector<PhaseSpan> phases;  // none overlaps another
};

Steps FindSteps(const Marks& marks);

}  // namespace vramscope::program
