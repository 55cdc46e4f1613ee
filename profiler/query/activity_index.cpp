#include "profiler/query/activity_index.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/query/activity_links.h"
#include "profiler/query/lane_data.h"

namespace vramscope::query {
namespace {

using trace::ActivityKind;
using trace::EventIndex;
using trace::SliceKind;
using Of = ActivityTrack::Of;

Of OfKind(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kMemcpy:
    case ActivityKind::kMemset:
      return Of::kStream;
    case ActivityKind::kCollective:
      return Of::kCollectives;
    case ActivityKind::kDriverAlloc:
    case ActivityKind::kDriverFree:
      return Of::kDriverMemory;
    case ActivityKind::kCounter:
      return Of::kCounter;
    case ActivityKind::kRuntimeCall:
    case ActivityKind::kDriverCall:
      return Of::kCalls;
    case ActivityKind::kSynchronization:
      return Of::kSynchronizations;
    case ActivityKind::kOverhead:
      return Of::kOverhead;
    case ActivityKind::kRange:
    case ActivityKind::kOperand:  // not in this table (Trace::operands)
      return Of::kRanges;
  }
  return Of::kRanges;
}

bool IsCall(ActivityKind kind) {
  return kind == ActivityKind::kRuntimeCall || kind == ActivityKind::kDriverCall;
}

// The fields that identify a track: kind, device, stream, thread, name.
using Key = std::tuple<Of, uint8_t, uint32_t, uint32_t, uint32_t>;

Key KeyOf(const trace::ActivityTable& a, uint32_t row) {
  const Of of = OfKind(a.kind[row]);
  switch (of) {
    case Of::kStream:
    case Of::kCollectives:
      return {of, a.device[row], a.stream[row], 0, 0};
    case Of::kDriverMemory:
      return {of, a.device[row], 0, 0, 0};
    case Of::kCounter:
      return {of, a.device[row], 0, 0, a.name[row].value};
    case Of::kCalls:
    case Of::kSynchronizations:
    case Of::kOverhead:
    case Of::kRanges:
      return {of, 0, 0, a.thread[row], 0};
  }
  return {};
}

}  // namespace

std::string_view Name(Of of) {
  switch (of) {
    case Of::kStream:
      return "stream";
    case Of::kCollectives:
      return "collectives";
    case Of::kDriverMemory:
      return "driver memory";
    case Of::kCounter:
      return "counter";
    case Of::kCalls:
      return "calls";
    case Of::kSynchronizations:
      return "synchronizations";
    case Of::kOverhead:
      return "overhead";
    case Of::kRanges:
      return "ranges";
  }
  return "unknown";
}

struct ActivityIndex::Impl {
  explicit Impl(std::shared_ptr<const trace::Trace> of)
      : trace(std::move(of)), correlations(trace->activities), nesting(*trace), operands(*trace) {
    Place();
    // For a run in progress, Prepare() is not called in advance: several indexes are built per
    // second, and few are asked for operands.
    if (trace->complete) operands.Prepare();
  }

  // Puts every activity into the track of lowest depth that is free when the activity begins.
  void Place() {
    const trace::ActivityTable& a = trace->activities;
    struct Rows {
      std::vector<int64_t> free_at;
      std::vector<uint32_t> track;
    };
    std::map<Key, Rows> groups;
    // Indexed by activity: its group, and its depth in the group.
    std::vector<std::pair<Rows*, uint32_t>> place(a.size());
    for (uint32_t row = 0; row < a.size(); ++row) {
      Rows& rows = groups[KeyOf(a, row)];
      uint32_t depth = 0;
      while (depth < rows.free_at.size() && rows.free_at[depth] > a.begin_ns[row] &&
             depth < kMostDepth)
        ++depth;
      if (depth == rows.free_at.size()) rows.free_at.push_back(INT64_MIN);
      rows.free_at[depth] = std::max(rows.free_at[depth], a.end_ns[row]);
      place[row] = {&rows, depth};
      if (IsCall(a.kind[row])) calls_of_thread[a.thread[row]].push_back(row);
    }
    for (auto& [key, rows] : groups) {
      for (uint32_t depth = 0; depth < rows.free_at.size(); ++depth) {
        rows.track.push_back(static_cast<uint32_t>(tracks.size()));
        const auto& [of, device, stream, thread, name] = key;
        tracks.push_back({.of = of,
                          .device = device,
                          .stream = stream,
                          .thread = thread,
                          .name = {name},
                          .depth = depth});
      }
    }
    track_of.resize(a.size());
    for (uint32_t row = 0; row < a.size(); ++row) {
      track_of[row] = place[row].first->track[place[row].second];
      ++tracks[track_of[row]].count;
    }
    data.resize(tracks.size());
    for (size_t track = 0; track < tracks.size(); ++track) data[track].Reserve(tracks[track].count);
    for (uint32_t row = 0; row < a.size(); ++row) {
      tracks[track_of[row]].busy_ns += Duration(a.begin_ns[row], a.end_ns[row]);
      data[track_of[row]].Add(a.begin_ns[row], a.end_ns[row], row,
                              ActivityStyle::Of(a.kind[row], a.name[row]).ToByte());
    }
    for (LaneData& lane : data) lane.Build();
  }

  std::shared_ptr<const trace::Trace> trace;
  Correlations correlations;
  SliceNesting nesting;
  OperandLinks operands;
  std::vector<ActivityTrack> tracks;
  std::vector<LaneData> data;                                 // indexed by track
  std::vector<uint32_t> track_of;                             // indexed by activity
  std::map<uint32_t, std::vector<uint32_t>> calls_of_thread;  // thread -> rows, sorted by begin
};

ActivityIndex::ActivityIndex(std::shared_ptr<const trace::Trace> trace)
    : impl_(std::make_unique<Impl>(std::move(trace))) {}
ActivityIndex::~ActivityIndex() = default;
ActivityIndex::ActivityIndex(ActivityIndex&&) noexcept = default;
ActivityIndex& ActivityIndex::operator=(ActivityIndex&&) noexcept = default;

std::span<const ActivityTrack> ActivityIndex::tracks() const { return impl_->tracks; }

LaneView ActivityIndex::Query(uint32_t track, int64_t begin_ns, int64_t end_ns, int columns,
                              double min_rect_columns) const {
  if (columns <= 0 || end_ns <= begin_ns || track >= impl_->data.size()) return {};
  return impl_->data[track].Query(begin_ns, end_ns, columns, min_rect_columns);
}

void ActivityIndex::Ask(uint32_t track, const TimeGrid& grid, double min_rect_columns,
                        LaneView* view) const {
  if (grid.columns <= 0 || track >= impl_->data.size()) return void(*view = {});
  impl_->data[track].Ask(grid, min_rect_columns, view);
}

std::optional<uint32_t> ActivityIndex::At(uint32_t track, int64_t time_ns) const {
  if (track >= impl_->data.size()) return std::nullopt;
  return impl_->data[track].At(time_ns);
}

uint32_t ActivityIndex::TrackOf(uint32_t activity) const { return impl_->track_of[activity]; }

std::span<const uint32_t> ActivityIndex::Correlated(uint32_t activity) const {
  return impl_->correlations.Of(impl_->trace->activities.correlation[activity]);
}

uint32_t ActivityIndex::CallOf(uint32_t activity) const {
  const trace::ActivityTable& a = impl_->trace->activities;
  if (IsCall(a.kind[activity])) return activity;
  const std::span<const uint32_t> related = Correlated(activity);
  return !related.empty() && IsCall(a.kind[related.front()]) ? related.front() : kNoRow;
}

const trace::Trace& ActivityIndex::trace() const { return *impl_->trace; }

trace::StringId ActivityIndex::ModuleOf(uint32_t activity) const {
  const trace::Trace& t = *impl_->trace;
  if (const trace::StringId said = t.activities.module[activity]; said.value != 0) return said;
  if (const uint32_t open = SliceOf(activity, trace::SliceKind::kModule); open != kNoRow)
    return t.slices.name[open];
  const uint32_t op = SliceOf(activity, trace::SliceKind::kOp);
  return op == kNoRow ? trace::StringId{} : t.slices.module[op];
}

uint32_t ActivityIndex::SliceOf(uint32_t activity, SliceKind kind) const {
  const trace::ActivityTable& a = impl_->trace->activities;
  uint32_t call = CallOf(activity);
  if (call == kNoRow && !trace::IsOfDevice(a.kind[activity])) call = activity;
  if (call == kNoRow) return kNoRow;
  return impl_->nesting.At(kind, a.thread[call], a.begin_ns[call]);
}

RowRange ActivityIndex::MadeWithin(uint32_t slice) const {
  const trace::SliceTable& s = impl_->trace->slices;
  const trace::PackedColumn<EventIndex>& made = impl_->trace->allocations.alloc_event;
  const auto row = [&](EventIndex event) {
    return static_cast<uint32_t>(std::lower_bound(made.begin(), made.end(), event) - made.begin());
  };
  return {row(s.begin_event[slice]), row(s.end_event[slice])};
}

std::vector<uint32_t> ActivityIndex::LaunchedWithin(uint32_t slice, size_t most) const {
  const trace::SliceTable& s = impl_->trace->slices;
  const trace::ActivityTable& a = impl_->trace->activities;
  std::vector<uint32_t> found;
  const auto thread = impl_->calls_of_thread.find(s.thread[slice]);
  if (thread == impl_->calls_of_thread.end()) return found;
  const std::vector<uint32_t>& calls = thread->second;
  auto at = std::lower_bound(calls.begin(), calls.end(), s.begin_ns[slice],
                             [&](uint32_t row, int64_t ns) { return a.begin_ns[row] < ns; });
  for (; at != calls.end() && a.begin_ns[*at] < s.end_ns[slice] && found.size() < most; ++at) {
    const std::span<const uint32_t> related = Correlated(*at);
    if (!related.empty() && related.front() != *at) continue;  // the runtime's call adds it
    for (const uint32_t row : related)
      if (trace::IsOfDevice(a.kind[row]) && found.size() < most) found.push_back(row);
  }
  return found;
}

uint32_t ActivityIndex::OpThatMade(trace::AllocationId allocation) const {
  const trace::AllocationTable& t = impl_->trace->allocations;
  const uint32_t row = allocation.value;
  return impl_->nesting.OpAround(t.alloc_event[row], t.device[row], t.op[row]);
}

uint32_t ActivityIndex::LastOpBeforeFree(trace::AllocationId allocation) const {
  const trace::AllocationTable& t = impl_->trace->allocations;
  const EventIndex freed = t.free_requested_event[allocation.value];
  if (freed == trace::kNoEvent) return kNoRow;
  const uint8_t device = t.device[allocation.value];
  const uint32_t around = impl_->nesting.OpAround(freed, device, {});
  return around != kNoRow ? around : impl_->nesting.OpBefore(freed, device);
}

const OperandLinks& ActivityIndex::operands() const { return impl_->operands; }

size_t ActivityIndex::MemoryBytes() const {
  size_t bytes = impl_->correlations.MemoryBytes() + impl_->nesting.MemoryBytes() +
                 impl_->operands.MemoryBytes() + impl_->track_of.capacity() * sizeof(uint32_t);
  for (const LaneData& lane : impl_->data) bytes += lane.MemoryBytes();
  for (const auto& [thread, calls] : impl_->calls_of_thread)
    bytes += calls.capacity() * sizeof(uint32_t);
  return bytes;
}

}  // namespace vramscope::query
