// AllocationTable::main_category. Internal to this folder.
#pragma once

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// After the ends are known. One pass over the retags, gathered by allocation.
void FillMainCategories(Trace& trace);

}  // namespace vramscope::trace
