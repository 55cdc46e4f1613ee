// The request stream of a trace: every allocation and free in order, with the identity of the freed
// allocation. Two streams of "the same" step are compared event by event: same kind, same bytes,
// and a free must free the counterpart of the allocation that it frees in the other stream.
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
  uint64_t bytes_rounded = 0;  // 0: not in the source
  int64_t allocation = -1;     // index among the stream's allocations; -1: older than the stream
  std::string where;           // op, module: for messages
  trace::EventIndex event = trace::kNoEvent;  // event in its trace
};

struct RequestStream {
  std::vector<Request> requests;
  uint64_t start_bytes = 0;  // rounded bytes live before the first request, if known
};

// Allocations and completed frees of one step; `step` < 0: the last whole step; nullopt: everything
// (in a recording, without the blocks that are older than it).
absl::StatusOr<RequestStream> RequestsOfStep(const trace::Trace& trace, std::optional<int> step);
// Writes the CSV of `vramscope requests`: a header and one row for every Alloc, FreeRequested and
// FreeCompleted, with the columns
// index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,op. index
// is the index of the event in the trace; category and phase are those at the event; module and op
// are those of the allocation. Quoted as in RFC 4180.
void WriteRequestsCsv(const trace::Trace& trace, std::ostream& out);

// Reads a CSV, either written by vramscope (`vramscope requests`) or with the columns
// action,size,addr and optionally rounded,index,alloc_index,op (from a recorded snapshot).
// alloc_index is the `index` of the row that allocated the freed block; it is empty or negative for
// older blocks. Without alloc_index, blocks are identified by address. kInvalidArgument names line
// and column.
absl::StatusOr<RequestStream> ReadRequestsCsv(std::string_view csv);

struct RequestDiff {
  uint64_t equal = 0;
  // Number of equal requests if the frees between two allocations may be in any order, as those of
  // autocast's casts (which are in hash order).
  uint64_t equal_frees_unordered = 0;
  uint64_t total = 0;  // number of requests in the longer stream
  struct Difference {
    uint64_t index_a = 0, index_b = 0;
    std::string a, b;  // descriptions; empty: nothing on that side
  };
  std::vector<Difference> first_differences;  // at most `max_differences`
  uint64_t peak_a = 0, peak_b = 0;            // peaks of rounded bytes, relative to the start
  bool identical() const { return equal == total; }
};
// Aligns the streams by a longest common subsequence (Myers' O(ND)): first by size, to find the
// counterpart of each allocation, then by identity. The number of differences is bounded, and the
// bound falls with the length, so that different streams of millions of requests still end in
// seconds. Beyond the bound, the best alignment so far is kept and the search restarts after it, so
// `equal` may be lower than the longest common subsequence, but never higher.
RequestDiff DiffRequests(const RequestStream& a, const RequestStream& b,
                         size_t max_differences = 20);

}  // namespace vramscope::analysis
