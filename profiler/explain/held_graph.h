// Activations that a forward pass left for a backward that never comes: what a program holds that
// evaluates without torch.no_grad(). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct HeldGraph {
  uint64_t bytes = 0, blocks = 0;  // there at the end
  std::string headline;            // "": none, or a backward is in the trace
};
HeldGraph FindHeldGraph(const trace::Trace& trace);

}  // namespace vramscope::explain
