#include <absl/container/btree_map.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "profiler/base/version.h"
#include "profiler/recording/recording.h"

namespace vramscope::recording {
namespace {

using trace::Event;
using trace::EventKind;

constexpr size_t kChunk = 4096;  // events per call of the sink

// The begin or end of an annotation, to be merged with the entries.
struct Edge {
  enum Order : uint8_t { kEnd, kBegin, kEndAtOnce };
  int64_t time_ns = 0;
  Order order = kBegin;
  uint32_t annotation = 0;
  uint32_t thread = 0;
};

// Converts annotations to begins and ends that nest on every thread: if annotations overlap, they
// get separate threads. For this purpose, an annotation without length counts as one nanosecond
// long.
std::vector<Edge> Edges(const std::vector<Annotation>& annotations) {
  std::vector<uint32_t> rows(annotations.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto end_of = [&](uint32_t row) {
    return std::max(annotations[row].begin_ns, annotations[row].end_ns);
  };
  std::sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) {
    const int64_t bx = annotations[x].begin_ns, by = annotations[y].begin_ns;
    return std::tuple(bx, -end_of(x), x) < std::tuple(by, -end_of(y), y);
  });
  std::vector<Edge> edges;
  edges.reserve(2 * rows.size());
  std::map<std::pair<uint8_t, uint32_t>, std::vector<int64_t>> open;  // (device, lane) to the ends
                                                                      // of its open annotations
  std::vector<uint32_t> rank(rows.size());
  for (uint32_t r = 0; r < rows.size(); ++r) {
    const Annotation& a = annotations[rows[r]];
    rank[rows[r]] = r;
    const bool instant = end_of(rows[r]) == a.begin_ns;
    const int64_t end = end_of(rows[r]) + instant;
    for (uint32_t lane = 0;; ++lane) {
      std::vector<int64_t>& ends = open[{a.device, lane}];
      while (!ends.empty() && ends.back() <= a.begin_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < end && lane < 255) continue;
      ends.push_back(end);
      const uint32_t thread = uint32_t{a.device} << 8 | lane;
      edges.push_back({a.begin_ns, Edge::kBegin, rows[r], thread});
      edges.push_back({end_of(rows[r]), instant ? Edge::kEndAtOnce : Edge::kEnd, rows[r], thread});
      break;
    }
  }
  std::sort(edges.begin(), edges.end(), [&](const Edge& x, const Edge& y) {
    const auto key = [&](const Edge& e) {
      const int64_t r = rank[e.annotation];
      return std::tuple(e.time_ns, e.order, e.order == Edge::kBegin ? r : -r);
    };
    return key(x) < key(y);
  });
  return edges;
}

// The segments of one device that exist at the current entry.
struct Device {
  // The ids of segments that are not expandable, keyed by address.
  absl::btree_map<uint64_t, uint32_t> segments;
  struct Range {
    uint64_t begin, end;
    uint32_t id;
    trace::Pool pool;
  };
  std::vector<Range> expandable;  // sorted by address
};

class Emitter {
 public:
  Emitter(const Recording& r, const History& h, const Labels& labels, trace::EventSink& sink)
      : recording_(r),
        entries_(r.entries),
        history_(h),
        labels_(labels),
        sink_(sink),
        edges_(Edges(r.annotations)),
        streams_(StreamNumbers(r)) {
    events_.reserve(kChunk);
  }

  void Run() {
    Head();
    now_ = StartTime();
    Older();
    Event begin = Of(EventKind::kMarker);
    begin.name = recording_begin_;
    Put(begin);
    for (EntryIndex i = 0; i < entries_.size(); ++i) {
      RangeEnds(i, false);
      Others(entries_.time_ns[i]);
      Placed(i);
      now_ = std::max(now_, entries_.time_ns[i]);
      RangeEnds(i, true);
      RangeBegins(i);
      Before(i);
      Entry(i);
    }
    RangeEnds(entries_.size(), false);
    Placed(entries_.size());
    Others(INT64_MAX);
    Flush();
    sink_.End(true, "");
  }

 private:
  void Head() {
    trace::TraceInfo info;
    info.producer = base::Producer();
    info.backend = trace::Backend::kImported;
    info.measured = true;
    info.source = recording_.source;
    info.device = recording_.gpu;
    if (!recording_.device.empty()) info.device.name = recording_.device;
    info.alloc_conf = recording_.alloc_conf;
    info.start_unix_ns = recording_.start_unix_ns;
    info.content = recording_.content;
    info.has_times = recording_.has_times;
    info.statistics = recording_.statistics;
    sink_.Begin(info);
    sink_.Strings(0, recording_.strings);
    auto next = static_cast<uint32_t>(recording_.strings.size());
    sink_.Strings(next, labels_.strings);
    next += static_cast<uint32_t>(labels_.strings.size());
    std::vector<std::string> own = {std::string(trace::kMarkerRecordingBegin),
                                    std::string(kMarkerSnapshot), std::string(kMarkerOther),
                                    std::string(kMarkerAnnotate)};
    recording_begin_.value = next;
    snapshot_.value = next + 1;
    other_.value = next + 2;
    annotate_.value = next + 3;
    left_out_.value = next + 4;
    for (int a = 0; a <= static_cast<int>(Action::kCategory); ++a)
      own.push_back(std::string(kMarkerLeftOut).append(Name(static_cast<Action>(a))));
    sink_.Strings(next, own);

    if (const trace::StackTable& s = recording_.stacks; s.size() > 1) {
      trace::StackIncrement all;
      all.function = s.function;
      all.file = s.file;
      all.line = s.line;
      all.frames = s.frames;
      all.lengths.reserve(s.size() - 1);
      for (uint32_t i = 1; i < s.size(); ++i) all.lengths.push_back(s.first[i + 1] - s.first[i]);
      sink_.Stacks(all);
    }
    if (!recording_.activities.empty()) sink_.Activities(recording_.activities);
  }

  int64_t StartTime() const {
    int64_t time = INT64_MAX;
    if (entries_.size() > 0) time = entries_.time_ns.front();
    if (!edges_.empty()) time = std::min(time, edges_.front().time_ns);
    if (!recording_.extras.empty()) time = std::min(time, recording_.extras.front().time_ns);
    for (const trace::Activity& a : recording_.activities) time = std::min(time, a.begin_ns);
    return time == INT64_MAX ? 0 : time;
  }

  static Event Of(EventKind kind, uint64_t id = 0) {
    Event event;
    event.kind = kind;
    event.id = id;
    return event;
  }
  Event OfEntry(EventKind kind, EntryIndex i, uint64_t id = 0) const {
    Event e = Of(kind, id);
    e.device = entries_.DeviceOf(i);
    e.stream = Stream(entries_.stream[i]);
    e.stack = entries_.stack[i];
    e.user_metadata = entries_.UserMetadataOf(i);
    e.compile_context = entries_.CompileContextOf(i);
    e.address = entries_.address[i];
    e.bytes = entries_.bytes[i];
    return e;
  }
  void Put(Event event) {
    event.time_ns = now_;
    events_.push_back(event);
    if (events_.size() == kChunk) Flush();
  }
  void Flush() {
    if (!events_.empty()) sink_.Events(events_);
    events_.clear();
  }

  uint32_t Stream(uint32_t row) const { return row < streams_.size() ? streams_[row] : row; }

  void Older() {
    for (const SegmentState& s : history_.start_segments) {
      Event e = Of(EventKind::kSegmentAlloc, segments_);
      e.pool = s.pool;
      e.detail = s.expandable;
      e.device = s.device;
      e.stream = Stream(s.stream);
      e.stack = s.stack;
      e.mempool = s.mempool;
      e.address = s.address;
      e.bytes = s.bytes;
      Put(e);
      Device& device = devices_[s.device];
      if (s.expandable) {
        device.expandable.push_back({s.address, s.address + s.bytes, segments_, s.pool});
        Mapped(s);
      } else {
        device.segments[s.address] = segments_;
      }
      ++segments_;
    }
    for (uint32_t row = 0; row < history_.older; ++row) Alloc(row);
    for (uint32_t row = 0; row < history_.older_pending.size(); ++row)
      if (history_.older_pending[row]) Put(Of(EventKind::kFreeRequested, row));
  }

  // Emits the mapped memory of an expandable segment, that is, its blocks. Adjacent blocks are
  // mapped by one event.
  void Mapped(const SegmentState& s) {
    for (size_t i = 0; i < s.blocks.size();) {
      const uint64_t begin = s.blocks[i].address;
      uint64_t end = begin;
      for (; i < s.blocks.size() && s.blocks[i].address == end; ++i) end += s.blocks[i].bytes;
      Event e = Of(EventKind::kSegmentMap, segments_);
      e.pool = s.pool;
      e.device = s.device;
      e.stream = Stream(s.stream);
      e.address = begin;
      e.bytes = end - begin;
      Put(e);
    }
  }

  void Alloc(uint32_t row) {
    const History::Allocations& a = history_.allocations;
    Event e = Of(EventKind::kAlloc, row);
    e.category = labels_.category[row];
    e.pool = a.pool[row];
    e.detail = labels_.rule[row];
    e.device = a.device[row];
    e.stream = Stream(a.stream[row]);
    e.name = labels_.op[row];
    e.module = labels_.module[row];
    e.stack = a.stack[row];
    e.address = a.address[row];
    e.bytes = a.requested[row];
    e.bytes_rounded = a.bytes[row];
    if (const EntryIndex made = a.alloc[row]; made != kNoEntry) {
      e.user_metadata = entries_.UserMetadataOf(made);
      e.compile_context = entries_.CompileContextOf(made);
    }
    Put(e);
  }

  // Emits annotations and the file's further events up to `time`.
  void Others(int64_t time) {
    while (true) {
      const bool edge = edge_ < edges_.size() && edges_[edge_].time_ns <= time;
      const bool extra =
          extra_ < recording_.extras.size() && recording_.extras[extra_].time_ns <= time;
      if (!edge && !extra) break;
      if (edge && (!extra || edges_[edge_].time_ns <= recording_.extras[extra_].time_ns))
        PutEdge(edges_[edge_++]);
      else
        PutExtra(recording_.extras[extra_++]);
    }
  }

  void PutEdge(const Edge& edge) {
    now_ = std::max(now_, edge.time_ns);
    const bool begin = edge.order == Edge::kBegin;
    Event e = Of(begin ? EventKind::kAnnotationBegin : EventKind::kAnnotationEnd);
    e.thread = edge.thread;
    if (begin) e.name = recording_.annotations[edge.annotation].name;
    Put(e);
  }

  // Skips ends without a begin, which a trace must not contain.
  void PutExtra(const Event& event) {
    switch (event.kind) {
      case EventKind::kOpBegin:
        ++open_[event.thread].ops;
        break;
      case EventKind::kModuleBegin:
        ++open_[event.thread].modules;
        break;
      case EventKind::kOpEnd:
        if (open_[event.thread].ops == 0) return;
        --open_[event.thread].ops;
        break;
      case EventKind::kModuleEnd:
        if (open_[event.thread].modules == 0) return;
        --open_[event.thread].modules;
        break;
      case EventKind::kDeviceUsage:
      case EventKind::kMarker:
        break;
      default:
        return;
    }
    now_ = std::max(now_, event.time_ns);
    Put(event);
  }

  void RangeEnds(EntryIndex i, bool contiguous) {
    const auto next_begins = [i](const auto& ranges, size_t at) {
      return at + 1 < ranges.size() && ranges[at + 1].begin == i;
    };
    // Ends the phase with the step if the phase would outlast the step.
    const bool last_of_steps =
        step_open_ && labels_.steps[step_].end == i && !next_begins(labels_.steps, step_);
    const auto end = [&](const auto& ranges, size_t& at, bool& open, EventKind kind) {
      if (!open || ranges[at].end != i) return;
      if ((next_begins(ranges, at) && !last_of_steps) != contiguous) return;
      Put(Of(kind));
      open = false;
      ++at;
    };
    end(labels_.phases, phase_, phase_open_, EventKind::kPhaseEnd);
    end(labels_.steps, step_, step_open_, EventKind::kStepEnd);
  }

  void RangeBegins(EntryIndex i) {
    const auto begins = [&](const auto& ranges, size_t& at, bool& open) {
      // Skips ranges that are empty, or that begin before the previous range ends.
      while (!open && at < ranges.size() &&
             (ranges[at].begin < i || ranges[at].end <= ranges[at].begin))
        ++at;
      if (open || at >= ranges.size() || ranges[at].begin != i) return false;
      return open = true;
    };
    if (begins(labels_.steps, step_, step_open_)) {
      Event e = Of(EventKind::kStepBegin, labels_.steps[step_].number);
      e.detail = labels_.steps[step_].rule;
      Put(e);
    }
    if (begins(labels_.phases, phase_, phase_open_)) {
      Event e = Of(EventKind::kPhaseBegin, labels_.phases[phase_].rule);
      e.detail = static_cast<uint8_t>(labels_.phases[phase_].phase);
      Put(e);
    }
  }

  // Emits everything that happens directly before the entry.
  void Before(EntryIndex i) {
    const std::vector<uint32_t>& displaced = history_.displaced;
    for (; displaced_ < displaced.size() &&
           history_.allocations.free_completed[displaced[displaced_]] == i;
         ++displaced_)
      Put(Of(EventKind::kFreeCompleted, displaced[displaced_]));
    for (; retag_ < labels_.retags.size() && labels_.retags[retag_].at <= i; ++retag_) {
      const Labels::Retag& retag = labels_.retags[retag_];
      const EntryIndex freed = history_.allocations.free_completed[retag.allocation];
      const EntryIndex made = history_.allocations.alloc[retag.allocation];
      if ((freed != kNoEntry && freed < i) || (made != kNoEntry && made >= i)) continue;
      Event e = Of(EventKind::kRetag, retag.allocation);
      e.category = retag.category;
      e.detail = retag.rule;
      Put(e);
    }
  }

  void Placed(EntryIndex i) {
    for (; placed_ < labels_.placed.size() && labels_.placed[placed_].at <= i; ++placed_) {
      const Event& event = labels_.placed[placed_].event;
      now_ = std::max(now_, event.time_ns);
      Put(event);
    }
  }

  void Entry(EntryIndex i) {
    const bool fits =
        left_out_at_ >= history_.left_out.size() || history_.left_out[left_out_at_] != i;
    if (!fits) ++left_out_at_;
    if (!fits || !Fitting(i))
      Marker(i, {left_out_.value + static_cast<uint32_t>(entries_.action[i])});
  }

  void Marker(EntryIndex i, trace::StringId name) {
    Event e = OfEntry(EventKind::kMarker, i);
    e.name = name;
    Put(e);
  }

  bool Fitting(EntryIndex i) {
    const uint32_t row = history_.allocation_of_entry[i];
    switch (entries_.action[i]) {
      case Action::kAlloc:
        Alloc(row);
        return true;
      case Action::kFreeRequested:
      case Action::kFreeCompleted: {
        const bool done = history_.allocations.free_completed[row] == i;
        Put(OfEntry(done ? EventKind::kFreeCompleted : EventKind::kFreeRequested, i, row));
        return true;
      }
      case Action::kSegmentAlloc:
        return SegmentAlloc(i);
      case Action::kSegmentFree: {
        auto& segments = devices_[entries_.DeviceOf(i)].segments;
        const auto at = segments.find(entries_.address[i]);
        if (at == segments.end()) return false;
        Put(OfEntry(EventKind::kSegmentFree, i, at->second));
        segments.erase(at);
        return true;
      }
      case Action::kSegmentMap:
      case Action::kSegmentUnmap:
        return SegmentMap(i);
      case Action::kOutOfMemory: {
        Event e = OfEntry(EventKind::kOutOfMemory, i);
        e.bytes_rounded = std::exchange(e.address, 0);
        Put(e);
        return true;
      }
      case Action::kSnapshot:
        Marker(i, snapshot_);
        return true;
      case Action::kOther:
        Marker(i, other_);
        return true;
      case Action::kAnnotate:
        Marker(i, annotate_);
        return true;
      case Action::kCategory:  // emitted as a Labels::Retag
        return true;
    }
    return false;
  }

  bool SegmentAlloc(EntryIndex i) {
    const auto& made = history_.new_segments;
    while (new_segment_ < made.size() && made[new_segment_].entry < i) ++new_segment_;
    if (new_segment_ >= made.size() || made[new_segment_].entry != i) return false;
    const History::NewSegment& segment = made[new_segment_];
    devices_[entries_.DeviceOf(i)].segments[entries_.address[i]] = segments_;
    Event e = OfEntry(EventKind::kSegmentAlloc, i, segments_++);
    e.pool = segment.pool;
    e.mempool = segment.mempool;
    Put(e);
    return true;
  }

  bool SegmentMap(EntryIndex i) {
    const std::vector<Device::Range>& ranges = devices_[entries_.DeviceOf(i)].expandable;
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), entries_.address[i],
        [](uint64_t address, const Device::Range& r) { return address < r.begin; });
    if (after == ranges.begin()) return false;
    const Device::Range& range = *std::prev(after);
    if (entries_.address[i] >= range.end || entries_.bytes[i] > range.end - entries_.address[i])
      return false;
    Event e = OfEntry(entries_.action[i] == Action::kSegmentMap ? EventKind::kSegmentMap
                                                                : EventKind::kSegmentUnmap,
                      i, range.id);
    e.pool = range.pool;
    Put(e);
    return true;
  }

  const Recording& recording_;
  const EntryTable& entries_;
  const History& history_;
  const Labels& labels_;
  trace::EventSink& sink_;
  const std::vector<Edge> edges_;
  const std::vector<uint32_t> streams_;
  std::vector<Event> events_;
  trace::StringId recording_begin_, snapshot_, other_, annotate_, left_out_;
  int64_t now_ = 0;  // time of the last event; never decreases
  uint32_t segments_ = 0;
  std::array<Device, 256> devices_;
  struct Open {
    uint32_t ops = 0, modules = 0;
  };
  std::map<uint32_t, Open> open_;  // open slices of extras, by thread
  size_t edge_ = 0, extra_ = 0, phase_ = 0, step_ = 0, displaced_ = 0, retag_ = 0, placed_ = 0,
         left_out_at_ = 0, new_segment_ = 0;
  bool phase_open_ = false, step_open_ = false;
};

}  // namespace

std::string_view Name(Action action) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "alloc",        "free_requested", "free_completed", "segment_alloc",
      "segment_free", "segment_map",    "segment_unmap",  "snapshot",
      "oom",          "other",          "annotate",       "category"};
  return kNames[std::min<size_t>(static_cast<size_t>(action), kNames.size() - 1)];
}

std::vector<uint32_t> StreamNumbers(const Recording& recording) {
  const bool plain =
      std::ranges::all_of(recording.streams, [](uint64_t stream) { return stream <= UINT32_MAX; });
  std::vector<uint32_t> numbers;
  for (uint32_t row = 0; row < recording.streams.size(); ++row)
    numbers.push_back(plain ? static_cast<uint32_t>(recording.streams[row]) : row);
  return numbers;
}

void Emit(const Recording& recording, const History& history, const Labels& labels,
          trace::EventSink& sink) {
  Emitter(recording, history, labels, sink).Run();
}

}  // namespace vramscope::recording
