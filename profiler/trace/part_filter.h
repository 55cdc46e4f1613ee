// A part of a trace by time, as a trace: what was in memory when it begins is restated in front of
// it, as a recording does (kMarkerRecordingBegin), and what was open is begun. Internal to this
// folder.
//
//   PartFilter part(from_ns, to_ns);
//   status = part.Strings(increment, builder); status = part.Pass(events, builder); ...
//   status = part.Finish();
//
// One thread. What lies before the part costs what is alive, not what was.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "profiler/trace/header_codec.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/live_state.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

class PartFilter {
 public:
  // Since the first event; `to_ns` belongs to it.
  PartFilter(int64_t from_ns, int64_t to_ns) : from_ns_(from_ns), to_ns_(to_ns) {}

  // Everything on its way to the builder, in the order of the file. Errors: kDataLoss as the
  // builder's, of what lies before the part, too.
  absl::Status Strings(const StringIncrement& increment, TraceBuilder& builder);
  absl::Status Stacks(StackIncrement increment, TraceBuilder& builder);
  absl::Status Pass(std::span<const Event> events, TraceBuilder& builder);
  absl::Status Activities(std::span<const Activity> activities, TraceBuilder& builder);
  // kOutOfRange: nothing lies in the part.
  absl::Status Finish() const;

  // In place of all events before the keyframe; `origin_ns` is the time of the file's first one.
  // kDataLoss: the keyframe contradicts itself.
  absl::Status Resume(const Keyframe& keyframe, int64_t origin_ns);

  bool done() const { return done_; }  // no later event is of it

 private:
  absl::Status Restate(int64_t time_ns, TraceBuilder& builder);
  // With the numbers that the part has; what is allocated gets its own. An error: it is of
  // something that the part does not know.
  absl::Status Renumber(Event& event);
  StringId Shifted(StringId id) const { return {id.value == 0 ? 0 : id.value + 1}; }
  absl::Status Bad(const Event& event, std::string_view what) const;

  int64_t from_ns_, to_ns_;
  std::optional<int64_t> origin_ns_;  // the first event
  bool begun_ = false, done_ = false;
  uint64_t seen_ = 0, passed_ = 0;
  bool header_strings_ = false;

  LiveState live_;                              // until the part begins
  uint64_t next_block_ = 0, next_segment_ = 0;  // of the file, since it began
  uint64_t blocks_ = 0, segments_ = 0;          // of the part
  std::map<uint64_t, uint64_t> block_of_;       // numbers in the part, of what is alive
  std::map<uint64_t, uint64_t> segment_of_;
};

}  // namespace vramscope::trace
