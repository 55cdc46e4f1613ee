// What the entry functions of this folder check of what a reader gives.
#pragma once

#include <string>

#include "profiler/recording/recording.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

// What every Recording promises, however odd its file was.
void CheckRecording(const recording::Recording& r);
// It becomes a history, and that a trace, which must take it all.
void CheckTrace(const recording::Recording& r);
// In what two Recordings differ; "": in nothing.
std::string Difference(const recording::Recording& a, const recording::Recording& b);

}  // namespace vramscope::fuzz
