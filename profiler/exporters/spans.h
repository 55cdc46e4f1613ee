// Chooses the complete events of a Chrome trace: which slices are written, under which name and on
// which track. Separate from the writer, so that the nesting can be tested alone.
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
  // The event at which the span begins. For an activity, this is the first event after its begin.
  // Spans are sorted by this event.
  trace::EventIndex event = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::string name;          // name of an annotation; other spans have the slice's name
  uint32_t slice = 0;        // row of the slice, or of the activity
  uint32_t track = 0;        // index into Spans::tracks
  uint32_t external_id = 0;  // id of an op; a kernel has the id of its op
};

// Track of a device for activities without a stream: driver allocations, counters.
inline constexpr uint32_t kDriverTrack = UINT32_MAX;

struct Track {
  bool gpu = false;
  uint8_t device = 0;     // device of a GPU track
  uint32_t thread = 0;    // thread of the trace; for a GPU track the stream, or kDriverTrack
  uint32_t overflow = 0;  // 0: the thread itself; > 0: extra tracks for spans that did not nest
};

struct Spans {
  std::vector<Span> spans;
  std::vector<Track> tracks;
};

// The time at which each event is shown. Viewers sort events with the same time by length and nest
// them. In a plan, views take no time, so a hundred of them would be drawn as a hundred nested
// levels. Therefore, events at the same time are shown one nanosecond apart. Events that follow
// closely are delayed, too. After the next gap, events have their own times again.
std::vector<int64_t> ShownTimes(const trace::Trace& trace);

// Spans of one track are disjoint or nested, and an outer span precedes its inner spans. Slices
// that violate this (in damaged or foreign traces) are moved to an overflow track. If `kernels`, a
// kernel is made from every innermost op that takes time, because the trace has no kernels.
Spans CollectSpans(const trace::Trace& trace, const std::vector<int64_t>& shown_ns, bool kernels);

// Assigns spans to tracks so that spans are disjoint or nested (see CollectSpans).
class TrackAllocator {
 public:
  explicit TrackAllocator(std::vector<Track>* tracks) : tracks_(tracks) {}
  // Spans of a thread must be passed in order of their begin, outer spans first.
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
