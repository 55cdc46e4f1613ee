// Checks of the results of readers, for the entry functions of this folder.
#pragma once

#include <string>

#include "profiler/recording/recording.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

// Checks the invariants of every Recording, even from a damaged file.
void CheckRecording(const recording::Recording& r);
// Converts the recording to a history and that to a trace, which must accept all events.
void CheckTrace(const recording::Recording& r);
// The first difference between two Recordings; "" if there is none.
std::string Difference(const recording::Recording& a, const recording::Recording& b);

}  // namespace vramscope::fuzz
