#include "profiler/trace/live_state.h"

#include <algorithm>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/processes.h"

namespace vramscope::trace {
namespace {

// Returns the kind of begin that this kind of end closes, or nullopt if `kind` is no end.
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

bool IsOfThread(EventKind begin) {
  return begin == EventKind::kModuleBegin || begin == EventKind::kOpBegin ||
         begin == EventKind::kAnnotationBegin;
}

// Returns the key that a begin and its end share: kind and thread (or process).
uint64_t OpenKey(EventKind begin, uint32_t thread_or_process) {
  return uint64_t{static_cast<uint8_t>(begin)} << 32 | thread_or_process;
}

uint32_t PlaceOf(EventKind begin, uint32_t thread) {
  return IsOfThread(begin) ? thread : ProcessOfThread(thread);
}

}  // namespace

void LiveState::Strings(uint32_t first_id, std::span<const std::string> values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (IsProcessMarker(values[i])) process_markers_.insert(first_id + static_cast<uint32_t>(i));
}

absl::Status LiveState::SkipTo(uint64_t next_block, uint64_t next_segment) {
  if (next_block < next_block_ || next_segment < next_segment_)
    return absl::DataLossError(i18n::Text("ids decrease"));
  next_block_ = next_block;
  next_segment_ = next_segment;
  return absl::OkStatus();
}

absl::Status LiveState::Advance(const Event& e) {
  switch (SubjectOf(e.kind)) {
    case Subject::kBlock:
      return OfBlock(e);
    case Subject::kSegment:
      return OfSegment(e);
    case Subject::kDevice:
      return absl::OkStatus();
    case Subject::kRun:
      break;
  }
  if (e.kind == EventKind::kMarker) {
    if (process_markers_.contains(e.name.value)) markers_.push_back(e);
    return absl::OkStatus();
  }
  if (IsSliceBegin(e.kind)) {
    open_by_key_[OpenKey(e.kind, PlaceOf(e.kind, e.thread))].push_back(opened_);
    open_.emplace_hint(open_.end(), opened_++, e);
  }
  if (const std::optional<EventKind> begin = BeginOf(e.kind)) return End(e, *begin);
  return absl::OkStatus();
}

absl::Status LiveState::OfBlock(const Event& e) {
  if (e.kind == EventKind::kAlloc) {
    if (e.id != next_block_) return absl::DataLossError(i18n::Text("has an unexpected id"));
    blocks_.emplace(next_block_++, Block{e});
    allocated_ += e.bytes_rounded;
    return absl::OkStatus();
  }
  const auto block = blocks_.find(e.id);
  if (block == blocks_.end()) return absl::DataLossError(i18n::Text("its allocation is not live"));
  if (e.kind == EventKind::kRetag) {
    block->second.event.category = e.category;
  } else if (e.kind == EventKind::kFreeRequested) {
    block->second.free_requested = true;
  } else {
    allocated_ -= block->second.event.bytes_rounded;
    blocks_.erase(block);
  }
  return absl::OkStatus();
}

absl::Status LiveState::OfSegment(const Event& e) {
  if (e.kind == EventKind::kSegmentAlloc) {
    if (e.id != next_segment_) return absl::DataLossError(i18n::Text("has an unexpected id"));
    segments_.emplace_hint(segments_.end(), next_segment_++, e);
    reserved_ += devices_[e.device].SegmentAlloc(e.bytes, e.detail != 0);
    return absl::OkStatus();
  }
  const auto segment = segments_.find(e.id);
  if (segment == segments_.end()) return absl::DataLossError(i18n::Text("its segment is not live"));
  const Event& s = segment->second;
  DeviceMemory& device = devices_[s.device];
  if (e.kind == EventKind::kSegmentMap) {
    reserved_ += device.Map(e.address, e.bytes);
  } else if (e.kind == EventKind::kSegmentUnmap) {
    reserved_ -= device.Unmap(e.address, e.bytes);
  } else {
    reserved_ -= device.SegmentFree(s.address, s.bytes, s.detail != 0);
    segments_.erase(segment);
  }
  return absl::OkStatus();
}

absl::Status LiveState::End(const Event& e, EventKind begin) {
  std::vector<uint64_t>* of = nullptr;  // open slices of a key; the end closes the last
  const auto see = [&](uint32_t place) {
    const auto found = open_by_key_.find(OpenKey(begin, place));
    if (found == open_by_key_.end() || found->second.empty()) return;
    if (of == nullptr || found->second.back() > of->back()) of = &found->second;
  };
  if (!IsOfThread(begin) && markers_.empty()) {
    // Without process markers there is one process, even if the upper bits of threads differ. The
    // end then closes the innermost of all open slices.
    for (uint32_t process = 0; process <= UINT8_MAX; ++process) see(process);
  } else {
    see(PlaceOf(begin, e.thread));
  }
  if (of == nullptr) return absl::DataLossError(i18n::Text("ends a range that did not begin"));
  open_.erase(of->back());
  of->pop_back();
  return absl::OkStatus();
}

std::vector<Event> LiveState::open() const {
  std::vector<Event> events;
  events.reserve(open_.size());
  for (const auto& [number, event] : open_) events.push_back(event);
  return events;
}

std::vector<Event> LiveState::Memory() const {
  std::vector<Event> events = markers_;
  // If segments overlap in the file, each page is still given to only one of them.
  std::map<uint8_t, RangeSet> pages;
  for (const auto& [number, device] : devices_) pages.emplace(number, device.mapped());
  for (const auto& [id, segment] : segments_) {
    events.push_back(segment);
    if (segment.detail == 0) continue;
    RangeSet& left = pages.at(segment.device);
    const uint64_t end_of_segment = EndOf(segment.address, segment.bytes);
    for (const auto& [begin, end] : left.Within(segment.address, end_of_segment)) {
      Event map = segment;
      map.kind = EventKind::kSegmentMap;
      map.detail = 0;
      map.address = begin;
      map.bytes = end - begin;
      events.push_back(map);
    }
    left.Remove(segment.address, end_of_segment);
  }
  std::vector<const Block*> blocks;
  blocks.reserve(blocks_.size());
  for (const auto& [id, block] : blocks_) blocks.push_back(&block);
  std::ranges::sort(blocks, {}, [](const Block* b) { return b->event.id; });
  for (const Block* block : blocks) {
    events.push_back(block->event);
    if (!block->free_requested) continue;
    Event free;
    free.kind = EventKind::kFreeRequested;
    free.id = block->event.id;
    events.push_back(free);
  }
  return events;
}

}  // namespace vramscope::trace
