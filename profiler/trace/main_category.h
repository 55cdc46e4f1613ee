// Computes AllocationTable::main_category. Internal to this folder.
#pragma once

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Call when it is known where each allocation ends. One pass over the retags, grouped by
// allocation.
void FillMainCategories(Trace& trace);

}  // namespace vramscope::trace
