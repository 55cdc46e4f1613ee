#include "profiler/trace/part_filter.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/event_fields.h"

namespace vramscope::trace {

absl::Status PartFilter::Bad(const Event& event, std::string_view what) const {
  return absl::DataLossError(i18n::Format("event {} ({}): {}", seen_, Name(event.kind), what));
}

absl::Status PartFilter::Strings(const StringIncrement& increment, TraceBuilder& builder) {
  // The first string is the marker's name, so the numbers of all other strings increase by one.
  if (!std::exchange(header_strings_, true)) {
    const std::string first[] = {"", std::string(kMarkerRecordingBegin)};
    if (absl::Status s = builder.AddStrings(0, first); !s.ok()) return s;
  }
  std::span<const std::string> values = increment.values;
  uint32_t first = increment.first_id;
  if (first == 0 && !values.empty()) {
    if (!values.front().empty())
      return absl::DataLossError(i18n::Text("strings: id 0 must be the empty string"));
    values = values.subspan(1);
    first = 1;
  }
  live_.Strings(first, values);
  if (first == UINT32_MAX) return absl::DataLossError(i18n::Text("strings: there are too many"));
  return builder.AddStrings(first + 1, values);
}

absl::Status PartFilter::Stacks(StackIncrement increment, TraceBuilder& builder) {
  for (StringId& id : increment.function) id = Shifted(id);
  for (StringId& id : increment.file) id = Shifted(id);
  return builder.AddStacks(increment);
}

absl::Status PartFilter::Activities(std::span<const Activity> activities, TraceBuilder& builder) {
  // If there is no event, times are relative to the first activity.
  if (!origin_ns_ && !activities.empty()) origin_ns_ = activities.front().begin_ns;
  std::vector<Activity> kept;
  for (Activity a : activities) {
    const auto since = [&](int64_t ns) {
      return static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(*origin_ns_));
    };
    if (since(a.end_ns) < from_ns_ || since(a.begin_ns) > to_ns_) continue;
    a.name = Shifted(a.name);
    a.op = Shifted(a.op);
    a.module = Shifted(a.module);
    kept.push_back(a);
  }
  passed_ += kept.size();
  return builder.AddActivities(kept);
}

absl::Status PartFilter::Resume(const Keyframe& keyframe, int64_t origin_ns) {
  origin_ns_ = origin_ns;
  seen_ = keyframe.event;
  return keyframe.Restore(live_);
}

absl::Status PartFilter::Renumber(Event& e) {
  e.name = Shifted(e.name);
  e.module = Shifted(e.module);
  e.user_metadata = Shifted(e.user_metadata);
  e.compile_context = Shifted(e.compile_context);
  const auto known = [&](std::map<uint64_t, uint64_t>& numbers, bool last) {
    const auto at = numbers.find(e.id);
    if (at == numbers.end()) return Bad(e, i18n::Text("its allocation or segment is not live"));
    e.id = at->second;
    if (last) numbers.erase(at);
    return absl::OkStatus();
  };
  const auto made = [&](std::map<uint64_t, uint64_t>& numbers, uint64_t& next, uint64_t& count) {
    if (e.id < next) return Bad(e, i18n::Text("has an unexpected id"));
    next = e.id + 1;
    numbers.emplace_hint(numbers.end(), e.id, count);
    e.id = count++;
    return absl::OkStatus();
  };
  switch (SubjectOf(e.kind)) {
    case Subject::kBlock:
      if (e.kind == EventKind::kAlloc) return made(block_of_, next_block_, blocks_);
      return known(block_of_, e.kind == EventKind::kFreeCompleted);
    case Subject::kSegment:
      if (e.kind == EventKind::kSegmentAlloc) return made(segment_of_, next_segment_, segments_);
      return known(segment_of_, e.kind == EventKind::kSegmentFree);
    case Subject::kDevice:
    case Subject::kRun:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status PartFilter::Restate(int64_t time_ns, TraceBuilder& builder) {
  std::vector<Event> events = live_.Memory();
  Event begin;
  begin.kind = EventKind::kMarker;
  const size_t marker = events.size();
  events.push_back(begin);
  const std::vector<Event> open = live_.open();
  events.insert(events.end(), open.begin(), open.end());
  for (Event& e : events) {
    e.time_ns = time_ns;
    if (absl::Status s = Renumber(e); !s.ok()) return s;
  }
  events[marker].name = {1};  // a string that the part adds
  // The next ids that the file will use follow the ids of everything that precedes the part.
  next_block_ = live_.next_block();
  next_segment_ = live_.next_segment();
  live_ = {};
  return builder.AddEvents(events);
}

absl::Status PartFilter::Pass(std::span<const Event> events, TraceBuilder& builder) {
  std::vector<Event> kept;
  absl::Status status;
  for (const Event& event : events) {
    if (done_) break;
    if (!origin_ns_) origin_ns_ = event.time_ns;
    const Event e = Normalized(event);
    const auto since =
        static_cast<int64_t>(static_cast<uint64_t>(e.time_ns) - static_cast<uint64_t>(*origin_ns_));
    if (!begun_ && since < from_ns_) {
      status = live_.Advance(e);
      if (!status.ok()) return Bad(e, std::string(status.message()));
      ++seen_;
      continue;
    }
    if (since > to_ns_) {
      done_ = true;
      break;
    }
    if (!std::exchange(begun_, true) && seen_ > 0) {
      status = Restate(e.time_ns, builder);
      if (!status.ok()) return status;
    }
    kept.push_back(e);
    if ((e.kind == EventKind::kAlloc && e.id != next_block_) ||
        (e.kind == EventKind::kSegmentAlloc && e.id != next_segment_))
      status = Bad(e, i18n::Text("has an unexpected id"));
    else
      status = Renumber(kept.back());
    if (!status.ok()) {
      kept.pop_back();
      break;
    }
    ++seen_;
    ++passed_;
  }
  const absl::Status added = builder.AddEvents(kept);
  return added.ok() ? status : added;
}

absl::Status PartFilter::Finish(bool later, TraceBuilder& builder) {
  const bool within = done_ || later || passed_ > 0;
  if (!begun_ && seen_ > 0 && within) {
    begun_ = true;
    return Restate(
        static_cast<int64_t>(static_cast<uint64_t>(*origin_ns_) + static_cast<uint64_t>(from_ns_)),
        builder);
  }
  if (passed_ > 0) return absl::OkStatus();
  return absl::OutOfRangeError(i18n::Text("the requested part is empty"));
}

}  // namespace vramscope::trace
