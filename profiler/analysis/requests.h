// The request stream of a trace: every allocation and free in order, with the identity of the freed
// allocation. Two streams of the same step are compared event by event. Two
// events are equal if kind and bytes are equal; for frees, the freed
// allocations must also be counterparts.
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
  uint64_t bytes = 0;          // requested size
  uint64_t bytes_rounded = 0;  // rounded size; 0: unknown
  int64_t allocation = -1;     // index among the stream's allocations; -1: older than the stream
  std::string where;           // PlaceOfRequest(), for messages
  trace::EventIndex event = trace::kNoEvent;  // event in its trace
};

// "aten::mm, model.layers.0"; a missing name is left out.
std::string PlaceOfRequest(std::string_view op, std::string_view module);

struct RequestStream {
  std::vector<Request> requests;
  uint64_t start_bytes = 0;  // rounded bytes live before the first request; 0 if unknown
};

// The allocations and completed frees of one step. A negative `step` means the last whole step;
// nullopt means the whole trace without blocks that are older than a recording.
absl::StatusOr<RequestStream> RequestsOfStep(const trace::Trace& trace, std::optional<int> step);
// Writes the CSV of `vramscope requests`: a header and one row for every Alloc, FreeRequested and
// FreeCompleted, with the columns
// index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,op. index
// is the index of the event in the trace; category and phase are as of the event; module and op are
// as of the allocation. Quoted as in RFC 4180.
void WriteRequestsCsv(const trace::Trace& trace, std::ostream& out);

// Reads a CSV, either written by vramscope (`vramscope requests`) or with the columns
// action,size,addr and optionally rounded,index,alloc_index,op (from a recorded snapshot).
// alloc_index is the `index` of the row that allocated the freed block, or empty or
// negative for older blocks. Without alloc_index, blocks are identified by address.
// kInvalidArgument names line and column.
absl::StatusOr<RequestStream> ReadRequestsCsv(std::string_view csv);

struct RequestDiff {
  uint64_t equal = 0;
  // Like `equal`, but ignores the order of consecutive frees. (Autocast frees its casts
  // in the order of a hash table.)
  uint64_t equal_frees_unordered = 0;
  uint64_t total = 0;  // number of requests in the longer stream
  struct Difference {
    uint64_t index_a = 0, index_b = 0;
    // Descriptions in English, which i18n::Shown() translates; empty if
    // stream a or b lacks the request.
    std::string a, b;
  };
  std::vector<Difference> first_differences;  // up to `max_differences`
  uint64_t peak_a = 0, peak_b = 0;            // peaks of rounded bytes, relative to the start
  bool identical() const { return equal == total; }
};
// Aligns the streams by a longest common subsequence (Myers' O(ND)): first by size, to find the
// counterpart of each allocation, then by identity. The search has a maximum number of differences,
// which is lower for longer streams, so that comparing millions of requests takes seconds. When the
// maximum is reached, the search keeps the best alignment so far and restarts after it. `equal` may
// then be lower than the longest possible.
RequestDiff DiffRequests(const RequestStream& a, const RequestStream& b,
                         size_t max_differences = 20);

}  // namespace vramscope::analysis
