#include "profiler/trace/part_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profiler/trace/allocator_events.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/processes.h"

namespace vramscope::trace {
namespace {

// The kind that an end closes; nothing: it is no end.
std::optional<EventKind> BeginOf(EventKind kind) {
  switch (kind) {
    case EventKind::kPhaseEnd:
      return EventKind::kPhaseBegin;
    case EventKind::kStepEnd:
      return EventKind::kStepBegin;
    case EventKind::kMicroBatchEnd:
      return EventKind::kMicroBatchBegin;
    case EventKind::kModuleEnd:
      return EventKind::kModuleBegin;
    case EventKind::kOpEnd:
      return EventKind::kOpBegin;
    case EventKind::kAnnotationEnd:
      return EventKind::kAnnotationBegin;
    default:
      return std::nullopt;
  }
}

bool IsBegin(EventKind kind) {
  return kind == EventKind::kPhaseBegin || kind == EventKind::kStepBegin ||
         kind == EventKind::kMicroBatchBegin || kind == EventKind::kModuleBegin ||
         kind == EventKind::kOpBegin || kind == EventKind::kAnnotationBegin;
}

bool IsOfThread(EventKind begin) {
  return begin == EventKind::kModuleBegin || begin == EventKind::kOpBegin ||
         begin == EventKind::kAnnotationBegin;
}

}  // namespace

absl::Status PartFilter::Bad(const Event& event, const char* what) const {
  return absl::DataLossError(fmt::format("event {} ({}): {}", seen_, Name(event.kind), what));
}

absl::Status PartFilter::Strings(const StringIncrement& increment, TraceBuilder& builder) {
  // The marker's name comes first; everything else has its number and one more.
  if (!std::exchange(header_strings_, true)) {
    const std::string first[] = {"", std::string(kMarkerRecordingBegin)};
    if (absl::Status s = builder.AddStrings(0, first); !s.ok()) return s;
  }
  std::span<const std::string> values = increment.values;
  uint32_t first = increment.first_id;
  if (first == 0 && !values.empty()) {
    if (!values.front().empty())
      return absl::DataLossError("strings: id 0 must be the empty string");
    values = values.subspan(1);
    first = 1;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (IsProcessMarker(values[i])) process_markers_.insert(first + static_cast<uint32_t>(i));
  if (first == UINT32_MAX) return absl::DataLossError("strings: too many");
  return builder.AddStrings(first + 1, values);
}

absl::Status PartFilter::Stacks(StackIncrement increment, TraceBuilder& builder) {
  for (StringId& id : increment.function) id = Shifted(id);
  for (StringId& id : increment.file) id = Shifted(id);
  return builder.AddStacks(increment);
}

absl::Status PartFilter::Activities(std::span<const Activity> activities, TraceBuilder& builder) {
  // Without an event there is nothing that a time could count from.
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

absl::Status PartFilter::SkipEnd(const Event& e) {
  const EventKind begin = *BeginOf(e.kind);
  const auto closes = [&](const Event& open) {
    if (open.kind != begin) return false;
    if (IsOfThread(begin)) return open.thread == e.thread;
    return !several_processes_ || ProcessOfThread(open.thread) == ProcessOfThread(e.thread);
  };
  const auto at = std::find_if(open_.rbegin(), open_.rend(), closes);
  if (at == open_.rend()) return Bad(e, "nothing of its kind is open");
  open_.erase(std::next(at).base());
  return absl::OkStatus();
}

// What lies before the part: only what is alive behind it is kept.
absl::Status PartFilter::Skip(const Event& e) {
  switch (e.kind) {
    case EventKind::kAlloc:
      if (e.id != next_block_) return Bad(e, "has another id than comes next");
      alive_.emplace_hint(alive_.end(), next_block_++, Block{e});
      return absl::OkStatus();
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
    case EventKind::kRetag: {
      const auto block = alive_.find(e.id);
      if (block == alive_.end()) return Bad(e, "its allocation is not alive");
      if (e.kind == EventKind::kRetag)
        block->second.event.category = e.category;
      else if (e.kind == EventKind::kFreeRequested)
        block->second.free_requested = true;
      else
        alive_.erase(block);
      return absl::OkStatus();
    }
    case EventKind::kSegmentAlloc:
      if (e.id != next_segment_) return Bad(e, "has another id than comes next");
      segments_alive_.emplace_hint(segments_alive_.end(), next_segment_++, e);
      return absl::OkStatus();
    case EventKind::kSegmentFree:
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap: {
      const auto segment = segments_alive_.find(e.id);
      if (segment == segments_alive_.end()) return Bad(e, "its segment is not alive");
      const Event& s = segment->second;
      RangeSet& mapped = mapped_[s.device];
      if (e.kind == EventKind::kSegmentMap) {
        mapped.Add(e.address, EndOf(e.address, e.bytes));
      } else if (e.kind == EventKind::kSegmentUnmap) {
        mapped.Remove(e.address, EndOf(e.address, e.bytes));
      } else {
        if (s.detail != 0) mapped.Remove(s.address, EndOf(s.address, s.bytes));
        segments_alive_.erase(segment);
      }
      return absl::OkStatus();
    }
    case EventKind::kMarker:
      if (!process_markers_.contains(e.name.value)) return absl::OkStatus();
      several_processes_ = true;
      markers_.push_back(e);
      return absl::OkStatus();
    default:
      break;
  }
  if (IsBegin(e.kind)) open_.push_back(e);
  if (BeginOf(e.kind)) return SkipEnd(e);
  return absl::OkStatus();
}

absl::Status PartFilter::Renumber(Event& e) {
  e.name = Shifted(e.name);
  e.module = Shifted(e.module);
  e.user_metadata = Shifted(e.user_metadata);
  e.compile_context = Shifted(e.compile_context);
  const auto known = [&](std::map<uint64_t, uint64_t>& numbers, bool last) {
    const auto at = numbers.find(e.id);
    if (at == numbers.end()) return Bad(e, "what it is about is not alive");
    e.id = at->second;
    if (last) numbers.erase(at);
    return absl::OkStatus();
  };
  switch (SubjectOf(e.kind)) {
    case Subject::kBlock:
      if (e.kind != EventKind::kAlloc) return known(block_of_, e.kind == EventKind::kFreeCompleted);
      if (e.id != next_block_) return Bad(e, "has another id than comes next");
      block_of_.emplace_hint(block_of_.end(), next_block_++, blocks_);
      e.id = blocks_++;
      return absl::OkStatus();
    case Subject::kSegment:
      if (e.kind != EventKind::kSegmentAlloc)
        return known(segment_of_, e.kind == EventKind::kSegmentFree);
      if (e.id != next_segment_) return Bad(e, "has another id than comes next");
      segment_of_.emplace_hint(segment_of_.end(), next_segment_++, segments_);
      e.id = segments_++;
      return absl::OkStatus();
    case Subject::kDevice:
    case Subject::kRun:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status PartFilter::Restate(int64_t time_ns, TraceBuilder& builder) {
  std::vector<Event> events;
  const auto add = [&](Event e) {
    e.time_ns = time_ns;
    events.push_back(e);
    return Renumber(events.back());
  };
  absl::Status status;
  const auto also = [&status](absl::Status more) { status.Update(more); };
  // Renumber() counts them as they come; what has gone in the meantime leaves no number free.
  const uint64_t blocks = std::exchange(next_block_, 0);
  const uint64_t segments = std::exchange(next_segment_, 0);
  for (const Event& e : markers_) also(add(e));
  for (const auto& [id, segment] : segments_alive_) {
    next_segment_ = id;
    also(add(segment));
    if (segment.detail == 0) continue;
    for (const auto& [begin, end] :
         mapped_[segment.device].Within(segment.address, EndOf(segment.address, segment.bytes))) {
      Event map = segment;
      map.kind = EventKind::kSegmentMap;
      map.detail = 0;
      map.address = begin;
      map.bytes = end - begin;
      also(add(map));
    }
  }
  for (auto& [id, block] : alive_) {
    next_block_ = id;
    also(add(block.event));
    if (!block.free_requested) continue;
    Event free;
    free.kind = EventKind::kFreeRequested;
    free.id = id;
    also(add(free));
  }
  next_block_ = blocks;
  next_segment_ = segments;
  Event begin;
  begin.kind = EventKind::kMarker;
  begin.time_ns = time_ns;
  begin.name = {1};
  events.push_back(begin);
  for (const Event& e : open_) also(add(e));
  if (status.ok()) status = builder.AddEvents(events);
  alive_ = {};
  segments_alive_ = {};
  open_ = {};
  markers_ = {};
  return status;
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
      status = Skip(e);
      if (!status.ok()) return status;
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

absl::Status PartFilter::Finish() const {
  if (passed_ > 0) return absl::OkStatus();
  return absl::OutOfRangeError("nothing lies in the part that was asked for");
}

}  // namespace vramscope::trace
