// Sums the bytes of the live blocks at an event by their evidence: a block was recorded, or code
// that really ran requested it, or it is modelled (trace/block_evidence.h).
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
  trace::Evidence evidence;  // its text describes all blocks of the share
  uint64_t bytes = 0;        // rounded sizes, as in `allocated`
  uint64_t blocks = 0;
};

// Returns the shares, the largest first. Each modelled library is a share of its own.
std::vector<EvidenceShare> EvidenceAt(const trace::Trace& trace, trace::EventIndex event);

}  // namespace vramscope::explain
