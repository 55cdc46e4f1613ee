// Puts work onto a stream, for the core's own functions (other libraries use kernels.h).
#pragma once

#include "emulated/core/graph.h"
#include "emulated/core/kernels.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {

// Stores the operands of work if a recorder wants them: only GPU addresses, each once.
void Keep(std::vector<Operand> operands, int device, Node* work);

// Submits work. Its effect is applied now, or, on a stream that is captured, when the graph is
// launched. `synchronous`: the call returns when the work is done.
Result Do(const StreamFacts& stream, void* handle, Node work, bool synchronous = false,
          Interval* done = nullptr);

}  // namespace vramscope::emulated
