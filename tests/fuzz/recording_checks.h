// Checks of the results of readers, for the entry functions of this folder.
#pragma once

#include <string>

#include "profiler/recording/recording.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

// Invariants of every Recording, however damaged its file is.
void CheckRecording(const recording::Recording& r);
// It is converted to a history, and that to a trace, which must accept all of it.
void CheckTrace(const recording::Recording& r);
// The first difference between two Recordings; "" if there is none.
std::string Difference(const recording::Recording& a, const recording::Recording& b);

}  // namespace vramscope::fuzz
