// The allocations of a trace as CSV (RFC 4180: commas, CRLF, quotes where needed), one row an
// allocation in order of birth, with a header row:
//
//   allocation,source,bytes_requested,bytes_rounded,address,device,stream,pool,segment,begin_ns,
//   end_ns,freed,birth_category,category,step,micro_batch,phase,module,op
//
// `source` is modelled or measured. `freed` is 0 for what was alive at the end of the trace; its
// end_ns is then the trace's. step, micro_batch and segment are empty where there is none;
// addresses are hexadecimal, because spreadsheets round large numbers.
#pragma once

#include <absl/status/status.h>

#include <ostream>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Errors: kDataLoss when `out` refuses the text (full disk).
absl::Status WriteCsv(const trace::Trace& trace, std::ostream& out);

}  // namespace vramscope::exporters
