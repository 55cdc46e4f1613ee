// Puts work onto a stream. Only for the core; other libraries use kernels.h.
#pragma once

#include "emulated/core/graph.h"
#include "emulated/core/kernels.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {

// If a recorder requested operands, stores the operands that are GPU addresses, each address once.
void Keep(std::vector<Operand> operands, int device, Node* work);

// Submits work. Its effect is applied now or, if the stream is being captured, when the graph is
// launched. If `synchronous`, the call returns when the work is done.
Result Do(const StreamFacts& stream, void* handle, Node work, bool synchronous = false,
          Interval* done = nullptr);

}  // namespace vramscope::emulated
