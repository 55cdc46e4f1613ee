// Computes AllocationTable::main_category. Internal to this folder.
#pragma once

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Call when the ends are known. One pass over the retags, grouped by allocation.
void FillMainCategories(Trace& trace);

}  // namespace vramscope::trace
