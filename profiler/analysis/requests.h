// The request stream of a trace: all allocations and frees in order. A free has the number of
// its allocation. Two streams of the same step are compared event by event. Events are equal
// if their kinds and bytes are equal. For frees, the freed allocations must also match each
// other.
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

// Returns for example "aten::mm, model.layers.0". A missing name is left out.
std::string PlaceOfRequest(std::string_view op, std::string_view module);

struct RequestStream {
  std::vector<Request> requests;
  uint64_t start_bytes = 0;  // rounded bytes live before the first request; 0 if unknown
};

// Returns the allocations and completed frees of one step. A negative `step` selects the last
// complete step. nullopt selects the whole trace, without the blocks from before the recording.
absl::StatusOr<RequestStream> RequestsOfStep(const trace::Trace& trace, std::optional<int> step);
// Writes the CSV of `vramscope requests`: a header and one row for every Alloc, FreeRequested and
// FreeCompleted, with the columns
// index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,op. index
// is the event's index in the trace. category and phase are as they are at the event; module and op
// are as they were at the allocation. Quoted as in RFC 4180.
void WriteRequestsCsv(const trace::Trace& trace, std::ostream& out);

// Reads a CSV that `vramscope requests` has written. Also reads a CSV from a recorded snapshot with
// the columns action,size,addr and optionally rounded,index,alloc_index,op. alloc_index is the
// `index` of the row that allocated the freed block. It is empty or negative for older blocks.
// Without alloc_index, the address identifies a block. A kInvalidArgument error names line and
// column.
absl::StatusOr<RequestStream> ReadRequestsCsv(std::string_view csv);

struct RequestDiff {
  uint64_t equal = 0;
  // Like `equal`, but the order of consecutive frees is ignored. (Autocast frees its casts in the
  // order of a hash table.)
  uint64_t equal_frees_unordered = 0;
  uint64_t total = 0;  // number of requests in the longer stream
  struct Difference {
    uint64_t index_a = 0, index_b = 0;
    // Descriptions in English, which i18n::Shown() translates; "" if the stream lacks the
    // request.
    std::string a, b;
  };
  std::vector<Difference> first_differences;  // up to `max_differences`
  uint64_t peak_a = 0, peak_b = 0;            // peaks of rounded bytes, relative to the start
  bool identical() const { return equal == total; }
};
// Aligns the streams by a longest common subsequence (Myers' O(ND)). The first alignment matches
// allocations by size. In the second, frees must also match by allocation. The number of
// differences is limited, and the limit is lower for longer streams, so that comparing millions of
// requests takes seconds. At the limit, the search keeps the best alignment so far and restarts
// after it. Therefore `equal` may be lower than possible.
RequestDiff DiffRequests(const RequestStream& a, const RequestStream& b,
                         size_t max_differences = 20);

}  // namespace vramscope::analysis
