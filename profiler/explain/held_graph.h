// Finds activations that are kept for a backward pass that never runs. The usual cause is an
// evaluation without torch.no_grad(). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct HeldGraph {
  uint64_t bytes = 0, blocks = 0;  // activations live at the end of the trace
  std::string headline;            // "": there are none, or the trace contains a backward pass
};
HeldGraph FindHeldGraph(const trace::Trace& trace);

}  // namespace vramscope::explain
