// Makes a trace from a time range of another trace. As in a recording (kMarkerRecordingBegin), the
// part begins with events that restate the memory in use when the range begins. The begins of open
// slices follow. Internal to this folder.
//
//   PartFilter part(from_ns, to_ns);
//   status = part.Strings(increment, builder); status = part.Pass(events, builder); ...
//   status = part.Finish(later, builder);
//
// Use it from one thread. How much memory it needs for the events before the range depends only on
// how many allocations are live when the range begins.
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
  // Times since the first event; `to_ns` is inclusive.
  PartFilter(int64_t from_ns, int64_t to_ns) : from_ns_(from_ns), to_ns_(to_ns) {}

  // All data must pass to the builder through these functions, in the order of the file. They
  // return the kDataLoss errors that the builder would return, also for data before the range.
  absl::Status Strings(const StringIncrement& increment, TraceBuilder& builder);
  absl::Status Stacks(StackIncrement increment, TraceBuilder& builder);
  absl::Status Pass(std::span<const Event> events, TraceBuilder& builder);
  absl::Status Activities(std::span<const Activity> activities, TraceBuilder& builder);
  // If the range contains no event, restates the memory that is in use throughout it. `later` says
  // whether the file has events after the range that were not passed. Returns kOutOfRange if the
  // range contains nothing and no event follows it.
  absl::Status Finish(bool later, TraceBuilder& builder);

  // Called instead of passing the events before the keyframe. `origin_ns` is the time of the file's
  // first event. Returns kDataLoss if the keyframe is inconsistent.
  absl::Status Resume(const Keyframe& keyframe, int64_t origin_ns);

  bool done() const { return done_; }  // no later event is in the range

 private:
  absl::Status Restate(int64_t time_ns, TraceBuilder& builder);
  // Replaces the file's ids by the part's ids; new allocations get new ids. Fails if the event
  // refers to an id that is not in the part.
  absl::Status Renumber(Event& event);
  StringId Shifted(StringId id) const { return {id.value == 0 ? 0 : id.value + 1}; }
  absl::Status Bad(const Event& event, std::string_view what) const;

  int64_t from_ns_, to_ns_;
  std::optional<int64_t> origin_ns_;  // time of the first event
  bool begun_ = false, done_ = false;
  uint64_t seen_ = 0, passed_ = 0;
  bool header_strings_ = false;

  LiveState live_;                              // the state before the range begins
  uint64_t next_block_ = 0, next_segment_ = 0;  // the file's next ids, from the range's begin on
  uint64_t blocks_ = 0, segments_ = 0;          // blocks and segments in the part so far
  std::map<uint64_t, uint64_t> block_of_;       // file id to id in the part, for live blocks
  std::map<uint64_t, uint64_t> segment_of_;
};

}  // namespace vramscope::trace
