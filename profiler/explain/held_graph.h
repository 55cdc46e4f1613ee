// Activations that a forward pass keeps for a backward pass that never runs: the sign of an
// evaluation without torch.no_grad(). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct HeldGraph {
  uint64_t bytes = 0, blocks = 0;  // live at the end
  std::string headline;            // "": there are none, or the trace contains a backward pass
};
HeldGraph FindHeldGraph(const trace::Trace& trace);

}  // namespace vramscope::explain
