// Checks of what readers return, used by the entry functions in this folder.
#pragma once

#include <string>

#include "profiler/recording/recording.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

// Checks what must hold for every Recording, even if it was read from a damaged file.
void CheckRecording(const recording::Recording& r);
// Converts the recording to a history, and the history to a trace. The trace must accept all
// events.
void CheckTrace(const recording::Recording& r);
// Returns the first difference between two Recordings, or "" if there is none.
std::string Difference(const recording::Recording& a, const recording::Recording& b);

}  // namespace vramscope::fuzz
