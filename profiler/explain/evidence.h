// By what the blocks of a moment are in a trace, added up: recorded, made by code that really ran,
// modelled in place of a library's (trace/block_evidence.h says it of one block).
//
//   for (const EvidenceShare& share : EvidenceAt(trace, event)) Show(share.evidence, share.bytes);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/block_evidence.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct EvidenceShare {
  trace::Evidence evidence;  // its text is of the blocks together
  uint64_t bytes = 0;        // rounded, as allocated counts
  uint64_t blocks = 0;
};

// Most bytes first; what is modelled by each of its sources.
std::vector<EvidenceShare> EvidenceAt(const trace::Trace& trace, trace::EventIndex event);

}  // namespace vramscope::explain
