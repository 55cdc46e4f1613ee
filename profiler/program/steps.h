// Derives steps, micro-batches and phases from the outermost scopes in the marks.
//
// A step ends with its optimizer step. A zero_grad right after the optimizer step belongs to the
// step, too, unless the program's steps begin with a zero_grad. The next scope determines the phase
// of work between two scopes: data before a forward pass, loss before a backward pass, optimizer
// before an optimizer step.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/program/marks.h"
#include "profiler/trace/types.h"

namespace vramscope::program {

// A position right before or right after a mark. Positions are ordered.
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
  uint32_t number = 0;  // within its step
  Edge begin, end;
};
struct StepSpan {
  uint32_t number = 0;
  Edge begin, end;
  std::vector<MicroBatchSpan> micro_batches;  // empty: there is only one
  bool whole = false;                         // an optimizer has made its step
};

struct Steps {
  std::vector<StepSpan> steps;
  std::vector<PhaseSpan> phases;  // without overlaps
};

Steps FindSteps(const Marks& marks);

}  // namespace vramscope::program
