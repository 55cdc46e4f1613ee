// Writes the allocations of a trace as CSV (RFC 4180: commas, CRLF, quotes where needed). After a
// header row there is one row per allocation, in order of allocation:
//
//   allocation,source,bytes_requested,bytes_rounded,address,device,stream,pool,segment,begin_ns,
//   end_ns,freed,birth_category,category,step,micro_batch,phase,module,op
//
// `source` is modelled or measured. `freed` is 0 for blocks that are live at the end of the trace;
// end_ns is then the end of the trace. The fields step, micro_batch and segment may be empty.
// Addresses are hexadecimal, because spreadsheets round large numbers.
#pragma once

#include <absl/status/status.h>

#include <ostream>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Errors: kDataLoss if `out` cannot write the text (full disk).
absl::Status WriteCsv(const trace::Trace& trace, std::ostream& out);

}  // namespace vramscope::exporters
