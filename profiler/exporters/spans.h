// The complete events of a Chrome trace, before they are text: which slices are written under which
// name on which track. Split from the writer so that the nesting rule can be tested by itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

enum class SpanKind : uint8_t { kAnnotation, kModule, kOp, kKernel, kActivity };

struct Span {
  SpanKind kind = SpanKind::kAnnotation;
  // At which it begins, of an activity the first one behind; spans are in this order.
  trace::EventIndex event = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::string name;          // of annotations; the others take the slice's
  uint32_t slice = 0;        // row, for modules, ops and kernels; of an activity its row
  uint32_t track = 0;        // index into Spans::tracks
  uint32_t external_id = 0;  // of ops; a kernel has its op's
};

// Of a device, for what lies on no stream: the driver's allocations, counters.
inline constexpr uint32_t kDriverTrack = UINT32_MAX;

struct Track {
  bool gpu = false;
  uint8_t device = 0;     // of a GPU track
  uint32_t thread = 0;    // of the trace; of a GPU track: the stream, or kDriverTrack
  uint32_t overflow = 0;  // 0: the thread itself; more: what did not nest in it
};

struct Spans {
  std::vector<Span> spans;
  std::vector<Track> tracks;
};

// The time at which each event is shown. Viewers order what begins at the same moment by length and
// nest it, so a hundred views at one moment of a planned run (they take no time) would become a
// staircase a hundred deep. Hence no two events share a moment: each comes at its own time or one
// nanosecond after the one before, whichever is later. The next gap takes the shift up again.
std::vector<int64_t> ShownTimes(const trace::Trace& trace);

// On every track, two spans are either apart or one holds the other; a span comes after the one
// that holds it. What would break that (slices of a damaged or foreign trace) moves to an overflow
// track. `kernels`: derive a kernel from every innermost op that takes time; not of a trace that
// has kernels.
Spans CollectSpans(const trace::Trace& trace, const std::vector<int64_t>& shown_ns, bool kernels);

// Hands out tracks by that rule.
class TrackAllocator {
 public:
  explicit TrackAllocator(std::vector<Track>* tracks) : tracks_(tracks) {}
  // Spans of one thread come in order of begin, a holder before what it holds.
  uint32_t Place(const Track& of, int64_t begin_ns, int64_t end_ns);

 private:
  struct Lane {
    uint32_t track;
    std::vector<int64_t> open_ends;  // innermost last
  };
  std::vector<Track>* tracks_;
  std::map<std::tuple<bool, uint8_t, uint32_t>, std::vector<Lane>> lanes_;
};

}  // namespace vramscope::exporters
