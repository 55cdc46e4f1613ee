#include "profiler/exporters/memory_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/exporters/end_state.h"
#include "profiler/exporters/exporter.h"
#include "profiler/exporters/snapshot_pickle.h"
#include "profiler/exporters/snapshot_times.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/segment_record.h"
#include "profiler/trace/snapshot_limits.h"

namespace vramscope::exporters {
namespace {

using trace::Category;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;
using trace::Pool;
using trace::SliceKind;

constexpr uint64_t kFormatVersion = 1;
constexpr EventIndex kCheckEvery = 1 << 14;
constexpr uint32_t kNoActivity = UINT32_MAX;

// Returns the action of a history entry that was imported as a marker because it is not an
// allocator event (see profiler/recording). Returns "" for other markers.
std::string_view ActionOfMarker(std::string_view marker) {
  constexpr std::string_view kLeftOut = "left out: ";
  if (marker == "snapshot" || marker == "annotate") return marker;
  if (marker == "other entry") return "other";
  return marker.starts_with(kLeftOut) ? marker.substr(kLeftOut.size()) : "";
}

class SnapshotWriter {
 public:
  SnapshotWriter(const trace::Trace& trace, std::ostream& out, const SnapshotOptions& options)
      : trace_(trace),
        stream_(out),
        options_(options),
        out_(trace, out),
        times_(trace),
        imported_(trace.info.backend == trace::Backend::kImported),
        first_(FirstEntry(trace)),
        inferred_(Inferred()),
        write_categories_(options.categories && HasCategories()) {
    if (write_categories_ && !inferred_) FindChanges();
  }

  absl::Status Write() {
    if (absl::Status status = CanBeReadBack(); !status.ok()) return status;
    out_.BeginDict();
    Origin();
    Segments();
    if (absl::Status status = DeviceTraces(); !status.ok()) return status;
    Settings();
    Annotations();
    if (write_categories_) Categories();
    out_.EndDict();
    if (options_.progress) options_.progress(1);
    return out_.Finish();
  }

 private:
  // A snapshot lists segments, and readers add up the reserved memory from them. Sizes above the
  // readers' limits occur only in damaged or artificial traces.
  absl::Status CanBeReadBack() const {
    const trace::AllocationTable& a = trace_.allocations;
    const bool host = trace::IsOfHostMemory(trace_) && trace_.segments.size() == 0;
    if (a.size() > 0 && (host || trace::SegmentRecordOf(trace_) != trace::SegmentRecord::kEach))
      return absl::FailedPreconditionError(
          i18n::Format("No snapshot was written: {}", trace::WhyNoSegments(trace_)));
    for (uint32_t row = 0; row < a.size(); ++row)
      if (const uint64_t bytes = std::max(a.bytes[row], a.bytes_rounded[row]);
          bytes > trace::kMostSnapshotBytes)
        return absl::InvalidArgumentError(
            i18n::Format("allocation {} has {} bytes, more than any device has. No snapshot was "
                         "written, because vramscope would refuse to open it",
                         row, bytes));
    const trace::SegmentTable& s = trace_.segments;
    for (uint32_t row = 0; row < s.size(); ++row)
      if (s.bytes[row] > trace::kMostSnapshotBytes && s.expandable[row] == 0)
        return absl::InvalidArgumentError(
            i18n::Format("segment {} has {} bytes, more than any device has. No snapshot was "
                         "written, because vramscope would refuse to open it",
                         row, s.bytes[row]));
    for (const EventIndex event : trace_.other_events.event) {
      const EventKind kind = trace_.events.kind[event];
      const uint64_t bytes = trace_.events.bytes[event];
      const bool maps = kind == EventKind::kSegmentMap || kind == EventKind::kSegmentUnmap;
      if ((maps && bytes > trace::kMostSnapshotBytes) ||
          (kind == EventKind::kOutOfMemory && bytes > trace::kMostSnapshotAsked))
        return absl::InvalidArgumentError(
            i18n::Format("event {} has {} bytes, more than any device has. No snapshot was "
                         "written, because vramscope would refuse to open it",
                         event, bytes));
    }
    return absl::OkStatus();
  }

  // Returns the first event to write. Earlier events of a recording only repeat what its segments
  // contain. Thus the only entry of a snapshot without history is its marker.
  static EventIndex FirstEntry(const trace::Trace& trace) {
    if (trace.recording_begin != kNoEvent) return trace.recording_begin + 1;
    return trace.info.content == trace::Content::kState ? trace.events.size() : 0;
  }
  bool HasCategories() const {
    const auto& main = trace_.allocations.main_category;
    return std::any_of(main.begin(), main.end(),
                       [](Category c) { return c != Category::kUnknown; });
  }
  bool Inferred() const {
    if (!imported_) return false;
    const auto& events = trace_.allocations.alloc_event;
    const auto is_concluded = [&](EventIndex event) { return trace_.events.detail[event] != 0; };
    const auto is_said = [&](EventIndex event) {
      return !is_concluded(event) && trace_.events.category[event] != Category::kUnknown;
    };
    // If the imported file contained some categories, inferred ones are not marked as inferred.
    // Otherwise, a reader would infer all again and discard the recorded ones.
    return std::ranges::any_of(events, is_concluded) && std::ranges::none_of(events, is_said);
  }
  // Finds allocations whose category changes while they are live.
  void FindChanges() {
    const trace::EventTable& events = trace_.events;
    if (std::find(events.kind.begin(), events.kind.end(), EventKind::kRetag) == events.kind.end())
      return;
    category_now_.resize(trace_.allocations.size());
    trace_.allocations.birth_category.Read(0, category_now_);
    changes_.assign(trace_.allocations.size(), false);
    for (EventIndex event = 0; event < events.size(); ++event) {
      if (events.kind[event] != EventKind::kRetag) continue;
      if (event < first_)
        category_now_[events.id[event]] = events.category[event];
      else
        changes_[events.id[event]] = true;
    }
  }
  int DeviceCount() const {
    int count = 1;
    for (const uint8_t device : trace_.allocations.device) count = std::max(count, device + 1);
    for (const uint8_t device : trace_.segments.device) count = std::max(count, device + 1);
    return count;
  }
  std::string_view Text(trace::StringId id) const { return trace_.String(id); }
  void CategoryItem(Category category) { out_.TextItem("category", SnapshotName(category)); }

  void Origin() {
    out_.Key("vramscope");
    out_.BeginDict();
    out_.Item("version", kFormatVersion);
    out_.TextItem("producer", trace_.info.producer);
    out_.FlagItem("inferred", inferred_);
    out_.EndDict();
  }

  // ---- Segments
  void Segments() {
    out_.Key("segments");
    SnapshotPickle::List list(out_);
    for (const EndSegment& segment : EndState(trace_)) {
      list.Next();
      Segment(segment);
    }
  }

  void Segment(const EndSegment& segment) {
    const trace::AllocationTable& allocations = trace_.allocations;
    const trace::SegmentTable& segments = trace_.segments;
    uint64_t allocated = 0, active = 0, requested = 0;
    for (const EndBlock& block : segment.blocks) {
      if (block.allocation == EndBlock::kFree) continue;
      active += block.bytes;
      requested += allocations.bytes[block.allocation];
      if (!PendingFree(trace_, block.allocation)) allocated += block.bytes;
    }
    const uint32_t row = segment.segment;
    const bool real = row != UINT32_MAX;
    const uint32_t only = real ? 0 : segment.blocks.front().allocation;
    const Pool pool = real ? segments.pool[row] : allocations.pool[only];
    const uint32_t mempool = real ? segments.mempool[row] : 0;
    out_.BeginDict();
    out_.Item("device", uint64_t{segment.device});
    out_.Item("address", segment.address);
    out_.Item("total_size", segment.bytes);
    out_.Item("allocated_size", allocated);
    out_.Item("active_size", active);
    out_.Item("requested_size", requested);
    out_.Item("stream", uint64_t{real ? segments.stream[row] : allocations.stream[only]});
    out_.TextItem("segment_type", pool == Pool::kSmall ? "small" : "large");
    out_.PairItem("segment_pool_id", mempool >> 16, mempool & 0xffff);
    out_.FlagItem("is_expandable", real && segments.expandable[row] != 0);
    out_.Key("frames");
    real ? out_.FramesOf(segments.alloc_event[row]) : out_.NoFrames();
    out_.Key("blocks");
    {
      SnapshotPickle::List list(out_);
      for (const EndBlock& block : segment.blocks) {
        list.Next();
        Block(block);
      }
    }
    out_.EndDict();
  }

  void Block(const EndBlock& block) {
    const bool free = block.allocation == EndBlock::kFree;
    out_.BeginDict();
    out_.Item("address", block.address);
    out_.Item("size", block.bytes);
    out_.Item("requested_size", free ? 0 : trace_.allocations.bytes[block.allocation]);
    out_.TextItem("state", free                                    ? "inactive"
                           : PendingFree(trace_, block.allocation) ? "active_pending_free"
                                                                   : "active_allocated");
    out_.Key("frames");
    free ? out_.NoFrames() : out_.AllocationFrames(block.allocation);
    if (!free && write_categories_)
      CategoryItem(trace_.allocations.main_category[block.allocation]);
    out_.EndDict();
  }

  // ---- Entries
  absl::Status DeviceTraces() {
    out_.Key("device_traces");
    SnapshotPickle::List list(out_);
    const int devices = DeviceCount();
    for (int device = 0; device < devices; ++device) {
      list.Next();
      if (absl::Status status = DeviceTrace(device, devices); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status DeviceTrace(int device, int devices) {
    SnapshotPickle::List list(out_);
    uint32_t activity = 0;
    const trace::EventTable& events = trace_.events;
    OlderBlocks(device, list);
    const std::vector<EventIndex>& activity_events = trace_.other_events.event;
    for (EventIndex event = first_; event < events.size(); ++event) {
      if ((event & (kCheckEvery - 1)) == 0) {
        if (options_.cancel != nullptr && options_.cancel->load())
          return absl::CancelledError(i18n::Text("writing the snapshot was cancelled"));
        if (options_.progress)
          options_.progress((device + static_cast<double>(event) / events.size()) / devices);
        if (!stream_) break;
      }
      const EventKind kind = events.kind[event];
      if (!IsSnapshotEntry(kind) && kind != EventKind::kMarker) continue;
      while (activity < activity_events.size() && activity_events[activity] < event) ++activity;
      const bool has_activity =
          activity < activity_events.size() && activity_events[activity] == event;
      if (DeviceOf(event, has_activity ? activity : kNoActivity) != device) continue;
      if (IsAddressSpace(event)) continue;
      if (kind == EventKind::kMarker && ActionOfMarker(Text(events.name[event])).empty()) continue;
      if (kind == EventKind::kRetag && changes_.empty()) continue;
      list.Next();
      Entry(event, activity);
      if (kind == EventKind::kAlloc && !changes_.empty() && changes_[events.id[event]]) {
        list.Next();
        Birth(event, static_cast<uint32_t>(events.id[event]));
      }
    }
    return absl::OkStatus();
  }

  // For every older block whose category changes later, writes an entry with its category when the
  // recording begins. The block's other entries have the category of most of its life.
  void OlderBlocks(int device, SnapshotPickle::List& list) {
    const trace::AllocationTable& a = trace_.allocations;
    for (uint32_t row = 0; row < changes_.size(); ++row) {
      if (!changes_[row] || a.device[row] != device || a.alloc_event[row] >= first_) continue;
      list.Next();
      Birth(first_, row);
    }
  }

  int DeviceOf(EventIndex event, uint32_t activity) const {
    const uint64_t id = trace_.events.id[event];
    switch (trace::SubjectOf(trace_.events.kind[event])) {
      case trace::Subject::kBlock:
        return trace_.allocations.device[id];
      case trace::Subject::kSegment:
        return trace_.segments.device[id];
      case trace::Subject::kDevice:
      case trace::Subject::kRun:
        return activity == kNoActivity ? 0 : trace_.other_events.device[activity];
    }
    return 0;
  }
  // Returns whether the event only reserves or frees addresses. Snapshots have no entry for this,
  // because in them an expandable segment begins when memory is mapped.
  bool IsAddressSpace(EventIndex event) const {
    const EventKind kind = trace_.events.kind[event];
    return (kind == EventKind::kSegmentAlloc || kind == EventKind::kSegmentFree) &&
           trace_.segments.expandable[trace_.events.id[event]] != 0;
  }

  void Head(std::string_view action, uint64_t address, uint64_t bytes, uint32_t stream,
            EventIndex event) {
    out_.TextItem("action", action);
    out_.Item(action == "oom" ? "device_free" : "addr", address);
    out_.Item("size", bytes);
    out_.Item("stream", uint64_t{stream});
    if (trace_.info.has_times) out_.Item("time_us", times_.Of(event));
  }
  // Writes the texts that the recorded program gave for the event.
  void Said(EventIndex event, bool always) {
    if (const std::string_view text = Text(trace_.events.CompileContextOf(event)); !text.empty())
      out_.TextItem("compile_context", text);
    if (const std::string_view text = Text(trace_.events.UserMetadataOf(event));
        always || !text.empty())
      out_.TextItem("user_metadata", text);
  }
  void OfAllocation(std::string_view action, uint32_t row, EventIndex event) {
    const trace::AllocationTable& a = trace_.allocations;
    Head(action, a.address[row], a.bytes[row], a.stream[row], event);
  }
  void OfSegment(std::string_view action, uint64_t row, EventIndex event) {
    const trace::SegmentTable& s = trace_.segments;
    Head(action, s.address[row], s.bytes[row], s.stream[row], event);
    out_.FramesItemOf(event);
    SayUnknown();
  }
  void OfActivity(std::string_view action, uint32_t activity, EventIndex event) {
    Head(action, trace_.other_events.address[activity], trace_.events.bytes[event],
         trace_.other_events.stream[activity], event);
    out_.FramesItemOf(event);
  }

  void Entry(EventIndex event, uint32_t activity) {
    const uint64_t id = trace_.events.id[event];
    const auto row = static_cast<uint32_t>(id);  // row of an allocation
    const EventKind kind = trace_.events.kind[event];
    out_.BeginDict();
    switch (kind) {
      case EventKind::kAlloc:
        OfAllocation("alloc", row, event);
        out_.Key("frames");
        out_.AllocationFrames(row);
        if (write_categories_) CategoryItem(trace_.allocations.main_category[row]);
        break;
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
        OfAllocation(kind == EventKind::kFreeRequested ? "free_requested" : "free_completed", row,
                     event);
        out_.FramesItemOf(event);
        if (write_categories_ && trace_.allocations.alloc_event[row] < first_)
          CategoryItem(trace_.allocations.main_category[row]);
        else
          SayUnknown();
        break;
      case EventKind::kRetag:
        Change(event, row);
        break;
      case EventKind::kOutOfMemory:
        Head("oom", trace_.events.bytes_rounded[event], trace_.events.bytes[event],
             trace_.other_events.stream[activity], event);
        out_.FramesItemOf(event);
        break;
      case EventKind::kSegmentAlloc:
        OfSegment("segment_alloc", id, event);
        break;
      case EventKind::kSegmentFree:
        OfSegment("segment_free", id, event);
        break;
      case EventKind::kMarker:
        OfActivity(ActionOfMarker(Text(trace_.events.name[event])), activity, event);
        break;
      default:
        OfActivity(kind == EventKind::kSegmentMap ? "segment_map" : "segment_unmap", activity,
                   event);
        SayUnknown();
        break;
    }
    if (kind != EventKind::kRetag)
      Said(event, Text(trace_.events.name[event]) == "annotate" && kind == EventKind::kMarker);
    out_.EndDict();
  }

  void Change(EventIndex event, uint32_t row) {
    const Category to = trace_.events.category[event];
    const std::string_view why = Text(trace_.events.name[event]);
    OfAllocation("annotate", row, event);
    out_.TextItem("user_metadata", fmt::format("{} -> {}{}{}", SnapshotName(category_now_[row]),
                                               SnapshotName(to), why.empty() ? "" : ": ", why));
    CategoryItem(to);
    category_now_[row] = to;
  }
  // Writes an entry with the category that the block has at `event`. The alloc entry cannot show
  // this category, because that entry has the category of most of the block's life.
  void Birth(EventIndex event, uint32_t row) {
    out_.BeginDict();
    OfAllocation("annotate", row, event);
    out_.TextItem("user_metadata", fmt::format("made as {}", SnapshotName(category_now_[row])));
    CategoryItem(category_now_[row]);
    out_.EndDict();
  }
  // MemoryViz.js fails on a file with categories if none is "unknown", so one entry gets "unknown".
  void SayUnknown() {
    if (!write_categories_ || unknown_reported_) return;
    unknown_reported_ = true;
    CategoryItem(Category::kUnknown);
  }

  // ---- Settings and annotations
  void Settings() {
    const absl::StatusOr<run::AllocConf> parsed = run::ParseAllocConf(trace_.info.alloc_conf);
    const run::AllocConf conf = parsed.ok() ? *parsed : run::AllocConf{};
    out_.Key("allocator_settings");
    out_.BeginDict();
    out_.TextItem("PYTORCH_CUDA_ALLOC_CONF", trace_.info.alloc_conf);
    out_.Item("max_split_size", conf.max_split_size == run::AllocConf::kNoMaxSplit
                                    ? int64_t{-1}
                                    : static_cast<int64_t>(conf.max_split_size));
    out_.Item("garbage_collection_threshold", conf.garbage_collection_threshold);
    out_.FlagItem("expandable_segments", conf.expandable_segments);
    out_.Key("roundup_power2_divisions");
    out_.BeginDict();
    for (int i = 0; i < run::AllocConf::kRoundupIntervals; ++i)
      out_.Item(std::to_string(1 << i), uint64_t{conf.roundup_power2_divisions[i]});
    out_.EndDict();
    out_.EndDict();
  }

  std::string AnnotationName(uint32_t slice) const {
    const trace::SliceTable& slices = trace_.slices;
    switch (slices.kind[slice]) {
      case SliceKind::kStep:
        return fmt::format("ProfilerStep#{}", slices.number[slice]);
      case SliceKind::kMicroBatch:
        return fmt::format("micro-batch {}", slices.number[slice]);
      case SliceKind::kPhase:
        return fmt::format("## {} ##", trace::Name(slices.phase(slice)));
      default:
        return std::string(Text(slices.name[slice]));
    }
  }
  bool IsAnnotation(uint32_t slice) const {
    switch (trace_.slices.kind[slice]) {
      case SliceKind::kAnnotation:
        return true;
      case SliceKind::kStep:
      case SliceKind::kMicroBatch:
      case SliceKind::kPhase:
        return !imported_;
      default:
        return false;
    }
  }

  void Annotations() {
    struct Mark {
      EventIndex event;
      uint32_t slice;
      bool begin;
    };
    std::vector<Mark> marks;
    const trace::SliceTable& slices = trace_.slices;
    for (uint32_t slice = 0; options_.annotations && slice < slices.size(); ++slice) {
      if (!IsAnnotation(slice)) continue;
      marks.push_back({slices.begin_event[slice], slice, true});
      if (slices.end_event[slice] != kNoEvent)
        marks.push_back({slices.end_event[slice], slice, false});
    }
    std::sort(marks.begin(), marks.end(),
              [](const Mark& a, const Mark& b) { return a.event < b.event; });
    out_.Key("external_annotations");
    SnapshotPickle::List list(out_);
    for (const Mark& mark : marks) {
      list.Next();
      out_.BeginDict();
      out_.TextItem("stage", mark.begin ? "START" : "END");
      out_.TextItem("name", AnnotationName(mark.slice));
      // In imported traces the device of an annotation is part of the thread's number
      // (recording.h).
      out_.Item("device", uint64_t{imported_ ? (slices.thread[mark.slice] >> 8) & 0xff : 0});
      out_.Item("time_us", times_.Of(mark.event));
      out_.EndDict();
    }
  }

  void Categories() {
    out_.Key("categories");
    SnapshotPickle::List list(out_);
    for (int c = 1; c < trace::kCategoryCount; ++c)
      out_.Text(SnapshotName(static_cast<Category>(c)));
    out_.Text(SnapshotName(Category::kUnknown));
  }

  const trace::Trace& trace_;
  std::ostream& stream_;
  const SnapshotOptions& options_;
  SnapshotPickle out_;
  const SnapshotTimes times_;
  const bool imported_;
  const EventIndex first_;  // first event of the recording
  const bool inferred_;
  const bool write_categories_;
  bool unknown_reported_ = false;
  // This and changes_ are indexed by allocation. Both are empty if no changes are written.
  std::vector<Category> category_now_;
  std::vector<bool> changes_;
};

}  // namespace

std::string_view SnapshotName(Category category) {
  switch (category) {
    case Category::kUnknown:
      return "unknown";
    case Category::kParameter:
      return "parameter";
    case Category::kBuffer:
      return "buffer";
    case Category::kGradient:
      return "gradient";
    case Category::kOptimizerState:
      return "optimizer_state";
    case Category::kActivation:
      return "activation";
    case Category::kInput:
      return "input";
    case Category::kTemporary:
      return "temporary";
    case Category::kAutogradDetail:
      return "autograd_detail";
    case Category::kWorkspace:
      return "workspace";
    case Category::kCommunication:
      return "communication";
    case Category::kKvCache:
      return "kv_cache";
  }
  return "unknown";
}

absl::Status WriteSnapshot(const trace::Trace& trace, std::ostream& out,
                           const SnapshotOptions& options) {
  return SnapshotWriter(trace, out, options).Write();
}

namespace {

absl::Status ExportSnapshot(const ExportRequest& request, std::ostream& out) {
  return WriteSnapshot(*request.trace, out,
                       {.categories = request.categories,
                        .annotations = request.annotations,
                        .progress = request.progress,
                        .cancel = request.cancel});
}

}  // namespace

ExporterEntry DeclareExporter_snapshot() {
  return {.place = 30,
          .name = "snapshot",
          .help = TEXT_MARK("a pickled CUDA memory snapshot, for PyTorch's memory_viz"),
          .uses_labels = true,
          .write = ExportSnapshot};
}

}  // namespace vramscope::exporters
