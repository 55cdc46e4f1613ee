// The request stream of a trace: every allocation and free in order, with the identity of what is
// freed. Two streams of "the same" step are compared event by event: same kind, same bytes, and a
// free must free the counterpart of the allocation it frees in the other stream.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::analysis {

struct Request {
  bool is_alloc = true;
  uint64_t bytes = 0;          // requested
  uint64_t bytes_rounded = 0;  // 0 when the source does not say
  int64_t allocation = -1;     // index among the stream's allocations; -1: born before it
  std::string where;           // op, module: for messages
  trace::EventIndex event = trace::kNoEvent;  // of the trace that it is from
};

struct RequestStream {
  std::vector<Request> requests;
  uint64_t start_bytes = 0;  // rounded bytes live before the first request, if known
};

// Allocations and completed frees of one step; `step` < 0: the last whole step; nullopt:
// everything (of a recording: without the blocks that are older than it).
absl::StatusOr<RequestStream> RequestsOfStep(const trace::Trace& trace, std::optional<int> step);
// `vramscope requests`: a header and one row for every Alloc, FreeRequested and FreeCompleted, with
// the columns
// index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module, op. index
// is that of the event in the trace; category and phase are those at the event; module and op those
// of the allocation. RFC 4180 quoting.
void WriteRequestsCsv(const trace::Trace& trace, std::ostream& out);

// A CSV: either our own (`vramscope requests`) or one with the columns action,size,addr and, if
// there, rounded,index,alloc_index,op (a recorded snapshot, flattened; alloc_index: the `index` of
// the row that allocated what a free frees, empty or negative when older). Without alloc_index the
// identity comes from the addresses. kInvalidArgument names line and column.
absl::StatusOr<RequestStream> ReadRequestsCsv(std::string_view csv);

struct RequestDiff {
  uint64_t equal = 0;
  // As many when frees between two allocations may come in any order, as those of autocast's casts
  // do (they are in the order of a hash).
  uint64_t equal_frees_unordered = 0;
  uint64_t total = 0;  // of the longer stream
  struct Difference {
    uint64_t index_a = 0, index_b = 0;
    std::string a, b;  // in words; empty: nothing on that side
  };
  std::vector<Difference> first_differences;  // at most so many as were asked for
  uint64_t peak_a = 0, peak_b = 0;            // of the rounded bytes, over the stream's start
  bool identical() const { return equal == total; }
};
// Aligned by a longest common subsequence (Myers' O(ND), first over sizes to find which allocation
// is whose counterpart, then with identities). Beyond a bound on the differences, which falls with
// the length so that wholly different streams of millions of requests still end in seconds, the
// best alignment found so far is kept and the search starts again behind it: `equal` may then be
// lower than the true longest common subsequence, never higher.
RequestDiff DiffRequests(const RequestStream& a, const RequestStream& b,
                         size_t max_differences = 20);

}  // namespace vramscope::analysis
