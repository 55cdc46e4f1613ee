// How work gets onto a stream: for the core's own functions (kernels.h is what other libraries
// use).
#pragma once

#include "emulated/core/graph.h"
#include "emulated/core/kernels.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {

// Keeps what it works on, where somebody wants to know: addresses of cards alone, each once.
void Keep(std::vector<Operand> operands, int device, Node* work);

// Submits work; its effect is done now, or, of a stream that is being captured, when the graph is
// launched. `synchronous`: the call returns when it is done.
Result Do(const StreamFacts& stream, void* handle, Node work, bool synchronous = false,
          Interval* done = nullptr);

}  // namespace vramscope::emulated
