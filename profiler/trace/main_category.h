// Computes AllocationTable::main_category. Internal to this folder.
#pragma once

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Must be called when the ends of all allocations are known. Makes one pass over the retags,
// grouped by allocation.
void FillMainCategories(Trace& trace);

}  // namespace vramscope::trace
