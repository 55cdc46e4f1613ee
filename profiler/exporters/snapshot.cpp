#include "profiler/exporters/snapshot.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiler/exporters/end_state.h"
#include "profiler/exporters/pickle_writer.h"
#include "profiler/run/alloc_conf.h"

namespace vramscope::exporters {
namespace {

using trace::Category;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;
using trace::Pool;
using trace::SliceKind;
using trace::StackId;

constexpr int kFormatVersion = 1;
constexpr EventIndex kCheckEvery = 1 << 14;
constexpr uint32_t kNoMemo = UINT32_MAX;

bool IsEntry(EventKind kind) {
  switch (kind) {
    case EventKind::kAlloc:
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
    case EventKind::kOutOfMemory:
      return true;
    default:
      return false;
  }
}

// Markers that the recording's entries became which are no event of an allocator:
// profiler/recording says which. "" for other markers.
std::string_view ActionOfMarker(std::string_view marker) {
  constexpr std::string_view kLeftOut = "left out: ";
  if (marker == "snapshot") return "snapshot";
  if (marker == "other entry") return "other";
  return marker.starts_with(kLeftOut) ? marker.substr(kLeftOut.size()) : "";
}

// "layers.3" of "model.layers.3": a container's number says nothing by itself.
std::string_view LastPart(std::string_view path) {
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return path;
  const bool number = path.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  if (number && dot > 0) dot = path.rfind('.', dot - 1);
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

class SnapshotWriter {
 public:
  SnapshotWriter(const trace::Trace& trace, std::ostream& out, const SnapshotOptions& options)
      : trace_(trace),
        out_(out),
        options_(options),
        pickle_(out),
        imported_(trace.info.backend == trace::Backend::kImported),
        first_(trace.recording_begin == kNoEvent ? 0 : trace.recording_begin + 1),
        write_categories_(options.categories && HasCategories()),
        frame_memos_(trace.stacks.frame_count(), kNoMemo),
        stack_memos_(trace.stacks.size(), kNoMemo) {
    if (!imported_) SpreadTimes();
  }

  absl::Status Write() {
    pickle_.EmptyDict();
    pickle_.Mark();
    Origin();
    Segments();
    pickle_.Shared("device_traces");
    pickle_.EmptyList();
    pickle_.Mark();
    const int devices = DeviceCount();
    for (int device = 0; device < devices; ++device) {
      if (absl::Status status = DeviceTrace(device, devices); !status.ok()) return status;
    }
    pickle_.Appends();
    Settings();
    Annotations();
    if (write_categories_) Categories();
    pickle_.SetItems();
    if (options_.progress) options_.progress(1);
    return pickle_.Finish();
  }

 private:
  bool HasCategories() const {
    const std::vector<Category>& main = trace_.allocations.main_category;
    return std::any_of(main.begin(), main.end(),
                       [](Category c) { return c != Category::kUnknown; });
  }
  bool Inferred() const {
    if (!imported_) return false;
    const std::vector<EventIndex>& events = trace_.allocations.alloc_event;
    return std::any_of(events.begin(), events.end(),
                       [&](EventIndex event) { return trace_.events.detail[event] != 0; });
  }
  int DeviceCount() const {
    int count = 1;
    for (const uint8_t device : trace_.allocations.device) count = std::max(count, device + 1);
    for (const uint8_t device : trace_.segments.device) count = std::max(count, device + 1);
    return count;
  }
  std::string_view Text(trace::StringId id) const { return trace_.String(id); }

  // Of a run of our own: whole microseconds that keep every allocator event on its side of the
  // boundaries of steps and phases.
  void SpreadTimes() {
    shown_us_.resize(trace_.events.size());
    int64_t last = INT64_MIN;
    bool after_entry = false;
    for (EventIndex i = 0; i < trace_.events.size(); ++i) {
      const EventKind kind = trace_.events.kind[i];
      int64_t us = Microsecond(i);
      if (IsBoundary(kind)) {
        if (last != INT64_MIN) us = std::max(us, last + (after_entry ? 1 : 0));
        after_entry = false;
      } else {
        us = std::max(us, last);
        after_entry = after_entry || IsEntry(kind);
      }
      shown_us_[i] = last = us;
    }
  }
  static bool IsBoundary(EventKind kind) {
    switch (kind) {
      case EventKind::kPhaseBegin:
      case EventKind::kPhaseEnd:
      case EventKind::kStepBegin:
      case EventKind::kStepEnd:
      case EventKind::kMicroBatchBegin:
      case EventKind::kMicroBatchEnd:
      case EventKind::kAnnotationBegin:
      case EventKind::kAnnotationEnd:
        return true;
      default:
        return false;
    }
  }
  int64_t Microsecond(EventIndex event) const {
    // Wraps on a damaged file's times instead of overflowing.
    const auto ns = static_cast<int64_t>(static_cast<uint64_t>(trace_.info.start_unix_ns) +
                                         static_cast<uint64_t>(trace_.events.time_ns[event]));
    return ns / 1000 - (ns % 1000 < 0 ? 1 : 0);
  }
  int64_t TimeOf(EventIndex event) const {
    return shown_us_.empty() ? Microsecond(event) : shown_us_[event];
  }

  void Item(std::string_view key, uint64_t value) {
    pickle_.Shared(key);
    pickle_.Unsigned(value);
  }
  void SignedItem(std::string_view key, int64_t value) {
    pickle_.Shared(key);
    pickle_.Int(value);
  }
  void SharedItem(std::string_view key, std::string_view value) {
    pickle_.Shared(key);
    pickle_.Shared(value);
  }
  void BoolItem(std::string_view key, bool value) {
    pickle_.Shared(key);
    pickle_.Bool(value);
  }
  void CategoryItem(Category category) { SharedItem("category", SnapshotName(category)); }
  void Origin() {
    pickle_.Shared("vramscope");
    pickle_.EmptyDict();
    pickle_.Mark();
    Item("version", kFormatVersion);
    SharedItem("producer", trace_.info.producer);
    BoolItem("inferred", Inferred());
    pickle_.SetItems();
  }

  // ---- frames
  void Frame(std::string_view name, std::string_view file, uint32_t line) {
    pickle_.EmptyDict();
    pickle_.Mark();
    SharedItem("name", name);
    SharedItem("filename", file);
    Item("line", line);
    pickle_.SetItems();
  }
  void RecordedStack(StackId stack) {
    uint32_t& memo = stack_memos_[stack.value];
    if (memo != kNoMemo) return pickle_.Get(memo);
    pickle_.EmptyList();
    pickle_.Mark();
    const trace::StackTable& stacks = trace_.stacks;
    int in_batch = 0;
    for (const uint32_t frame : stacks.Frames(stack)) {
      if (in_batch++ == PickleWriter::kBatch) NextBatch(in_batch);
      if (frame_memos_[frame] != kNoMemo) {
        pickle_.Get(frame_memos_[frame]);
        continue;
      }
      Frame(Text(stacks.function[frame]), Text(stacks.file[frame]), stacks.line[frame]);
      frame_memos_[frame] = pickle_.Memoize();
    }
    pickle_.Appends();
    memo = pickle_.Memoize();
  }
  void NextBatch(int& in_batch) {
    pickle_.Appends();
    pickle_.Mark();
    in_batch = 1;
  }
  void ModuleFrame(std::string_view name, std::string_view file) {
    const auto [it, added] =
        module_frames_.try_emplace(std::pair(std::string(name), std::string(file)), kNoMemo);
    if (!added) return pickle_.Get(it->second);
    Frame(name, file, 0);
    it->second = pickle_.Memoize();
  }
  void OpStack(uint32_t allocation) {
    const trace::StringId op = trace_.allocations.op[allocation];
    const trace::StringId module = trace_.allocations.module[allocation];
    const auto [it, added] =
        op_stacks_.try_emplace(uint64_t{op.value} << 32 | module.value, kNoMemo);
    if (!added) return pickle_.Get(it->second);
    std::string_view path = Text(module);
    pickle_.EmptyList();
    pickle_.Mark();
    if (!Text(op).empty()) ModuleFrame(Text(op), path);
    while (!path.empty()) {
      const std::string_view part = LastPart(path);
      const std::string_view parent = path.substr(0, path.size() - part.size());
      path = parent.substr(0, parent.empty() ? 0 : parent.size() - 1);
      ModuleFrame(part, path);
    }
    pickle_.Appends();
    it->second = pickle_.Memoize();
  }
  bool HasStack(EventIndex event) const { return trace_.events.StackOf(event).value != 0; }
  void NoFrames() {
    if (no_frames_ != kNoMemo) return pickle_.Get(no_frames_);
    pickle_.EmptyList();
    no_frames_ = pickle_.Memoize();
  }
  void AllocationFrames(uint32_t allocation) {
    const EventIndex event = trace_.allocations.alloc_event[allocation];
    if (HasStack(event)) return RecordedStack(trace_.events.StackOf(event));
    if (imported_) return NoFrames();
    OpStack(allocation);
  }
  void FramesItem(EventIndex event) {
    if (!HasStack(event)) return;
    pickle_.Shared("frames");
    RecordedStack(trace_.events.StackOf(event));
  }

  // ---- segments
  void Segments() {
    pickle_.Shared("segments");
    pickle_.EmptyList();
    pickle_.Mark();
    int in_batch = 0;
    for (const EndSegment& segment : EndState(trace_)) {
      if (in_batch++ == PickleWriter::kBatch) NextBatch(in_batch);
      Segment(segment);
    }
    pickle_.Appends();
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
    pickle_.EmptyDict();
    pickle_.Mark();
    Item("device", segment.device);
    Item("address", segment.address);
    Item("total_size", segment.bytes);
    Item("allocated_size", allocated);
    Item("active_size", active);
    Item("requested_size", requested);
    Item("stream", real ? segments.stream[row] : allocations.stream[only]);
    SharedItem("segment_type", pool == Pool::kSmall ? "small" : "large");
    pickle_.Shared("segment_pool_id");
    pickle_.Unsigned(mempool >> 16);
    pickle_.Unsigned(mempool & 0xffff);
    pickle_.Tuple2();
    BoolItem("is_expandable", real && segments.expandable[row] != 0);
    pickle_.Shared("frames");
    if (real && HasStack(segments.alloc_event[row])) {
      RecordedStack(trace_.events.StackOf(segments.alloc_event[row]));
    } else {
      NoFrames();
    }
    pickle_.Shared("blocks");
    pickle_.EmptyList();
    pickle_.Mark();
    int in_batch = 0;
    for (const EndBlock& block : segment.blocks) {
      if (in_batch++ == PickleWriter::kBatch) NextBatch(in_batch);
      Block(block);
    }
    pickle_.Appends();
    pickle_.SetItems();
  }

  void Block(const EndBlock& block) {
    const bool free = block.allocation == EndBlock::kFree;
    pickle_.EmptyDict();
    pickle_.Mark();
    Item("address", block.address);
    Item("size", block.bytes);
    Item("requested_size", free ? 0 : trace_.allocations.bytes[block.allocation]);
    SharedItem("state", free                                    ? "inactive"
                        : PendingFree(trace_, block.allocation) ? "active_pending_free"
                                                                : "active_allocated");
    pickle_.Shared("frames");
    if (free) {
      NoFrames();
    } else {
      AllocationFrames(block.allocation);
      if (write_categories_) CategoryItem(trace_.allocations.main_category[block.allocation]);
    }
    pickle_.SetItems();
  }

  // ---- entries
  absl::Status DeviceTrace(int device, int devices) {
    pickle_.EmptyList();
    pickle_.Mark();
    int in_batch = 0;
    uint32_t activity = 0;
    const trace::EventTable& events = trace_.events;
    const std::vector<EventIndex>& activity_events = trace_.activities.event;
    for (EventIndex event = first_; event < events.size(); ++event) {
      if ((event & (kCheckEvery - 1)) == 0) {
        if (options_.cancel != nullptr && options_.cancel->load())
          return absl::CancelledError("writing the snapshot was cancelled");
        if (options_.progress)
          options_.progress((device + static_cast<double>(event) / events.size()) / devices);
        if (!out_) break;
      }
      const EventKind kind = events.kind[event];
      if (!IsEntry(kind) && kind != EventKind::kMarker) continue;
      while (activity < activity_events.size() && activity_events[activity] < event) ++activity;
      const bool has_activity =
          activity < activity_events.size() && activity_events[activity] == event;
      if (DeviceOf(event, has_activity ? activity : kNoMemo) != device) continue;
      if (IsAddressSpace(event)) continue;
      if (kind == EventKind::kMarker && ActionOfMarker(Text(events.name[event])).empty()) continue;
      if (in_batch++ == PickleWriter::kBatch) NextBatch(in_batch);
      Entry(event, activity);
    }
    pickle_.Appends();
    return absl::OkStatus();
  }

  int DeviceOf(EventIndex event, uint32_t activity) const {
    const uint64_t id = trace_.events.id[event];
    switch (trace_.events.kind[event]) {
      case EventKind::kAlloc:
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
        return trace_.allocations.device[id];
      case EventKind::kOutOfMemory:
      case EventKind::kMarker:
        return activity == kNoMemo ? 0 : trace_.activities.device[activity];
      default:
        return trace_.segments.device[id];
    }
  }
  // Expandable segments come to be by their maps; the reservation of addresses is no entry.
  bool IsAddressSpace(EventIndex event) const {
    const EventKind kind = trace_.events.kind[event];
    return (kind == EventKind::kSegmentAlloc || kind == EventKind::kSegmentFree) &&
           trace_.segments.expandable[trace_.events.id[event]] != 0;
  }

  void Entry(EventIndex event, uint32_t activity) {
    const uint64_t id = trace_.events.id[event];
    const trace::AllocationTable& allocations = trace_.allocations;
    const trace::SegmentTable& segments = trace_.segments;
    pickle_.EmptyDict();
    pickle_.Mark();
    const auto head = [&](std::string_view action, uint64_t address, uint64_t bytes,
                          uint32_t stream) {
      SharedItem("action", action);
      Item(action == "oom" ? "device_free" : "addr", address);
      Item("size", bytes);
      Item("stream", stream);
      SignedItem("time_us", TimeOf(event));
    };
    switch (trace_.events.kind[event]) {
      case EventKind::kAlloc:
        head("alloc", allocations.address[id], allocations.bytes[id], allocations.stream[id]);
        pickle_.Shared("frames");
        AllocationFrames(static_cast<uint32_t>(id));
        if (write_categories_) CategoryItem(allocations.main_category[id]);
        break;
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted: {
        const bool requested = trace_.events.kind[event] == EventKind::kFreeRequested;
        head(requested ? "free_requested" : "free_completed", allocations.address[id],
             allocations.bytes[id], allocations.stream[id]);
        FramesItem(event);
        if (write_categories_ && allocations.alloc_event[id] < first_)
          CategoryItem(allocations.main_category[id]);
        else
          SayUnknown();
        break;
      }
      case EventKind::kOutOfMemory:
        head("oom", trace_.events.bytes_rounded[event], trace_.events.bytes[event],
             trace_.activities.stream[activity]);
        FramesItem(event);
        break;
      case EventKind::kSegmentAlloc:
      case EventKind::kSegmentFree:
        head(trace_.events.kind[event] == EventKind::kSegmentAlloc ? "segment_alloc"
                                                                   : "segment_free",
             segments.address[id], segments.bytes[id], segments.stream[id]);
        FramesItem(event);
        SayUnknown();
        break;
      case EventKind::kMarker:
        head(ActionOfMarker(Text(trace_.events.name[event])), trace_.activities.address[activity],
             trace_.events.bytes[event], trace_.activities.stream[activity]);
        FramesItem(event);
        break;
      default:
        head(trace_.events.kind[event] == EventKind::kSegmentMap ? "segment_map" : "segment_unmap",
             trace_.activities.address[activity], trace_.events.bytes[event],
             trace_.activities.stream[activity]);
        FramesItem(event);
        SayUnknown();
        break;
    }
    pickle_.SetItems();
  }
  // MemoryViz.js fails on a file with categories none of whose entries says "unknown": one does.
  void SayUnknown() {
    if (!write_categories_ || unknown_said_) return;
    unknown_said_ = true;
    CategoryItem(Category::kUnknown);
  }

  // ---- the rest
  void Settings() {
    const absl::StatusOr<run::AllocConf> parsed = run::ParseAllocConf(trace_.info.alloc_conf);
    const run::AllocConf conf = parsed.ok() ? *parsed : run::AllocConf{};
    pickle_.Shared("allocator_settings");
    pickle_.EmptyDict();
    pickle_.Mark();
    SharedItem("PYTORCH_CUDA_ALLOC_CONF", trace_.info.alloc_conf);
    SignedItem("max_split_size", conf.max_split_size == run::AllocConf::kNoMaxSplit
                                     ? -1
                                     : static_cast<int64_t>(conf.max_split_size));
    pickle_.Shared("garbage_collection_threshold");
    pickle_.Float(conf.garbage_collection_threshold);
    BoolItem("expandable_segments", conf.expandable_segments);
    pickle_.Shared("roundup_power2_divisions");
    pickle_.EmptyDict();
    pickle_.Mark();
    for (int i = 0; i < run::AllocConf::kRoundupIntervals; ++i)
      Item(std::to_string(1 << i), conf.roundup_power2_divisions[i]);
    pickle_.SetItems();
    pickle_.SetItems();
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
    pickle_.Shared("external_annotations");
    pickle_.EmptyList();
    pickle_.Mark();
    int in_batch = 0;
    for (const Mark& mark : marks) {
      if (in_batch++ == PickleWriter::kBatch) NextBatch(in_batch);
      pickle_.EmptyDict();
      pickle_.Mark();
      SharedItem("stage", mark.begin ? "START" : "END");
      SharedItem("name", AnnotationName(mark.slice));
      // Imported annotations have their device in the thread's number (recording.h).
      Item("device", imported_ ? (slices.thread[mark.slice] >> 8) & 0xff : 0);
      SignedItem("time_us", TimeOf(mark.event));
      pickle_.SetItems();
    }
    pickle_.Appends();
  }

  void Categories() {
    pickle_.Shared("categories");
    pickle_.EmptyList();
    pickle_.Mark();
    for (int c = 1; c < trace::kCategoryCount; ++c)
      pickle_.Shared(SnapshotName(static_cast<Category>(c)));
    pickle_.Shared(SnapshotName(Category::kUnknown));
    pickle_.Appends();
  }

  const trace::Trace& trace_;
  std::ostream& out_;
  const SnapshotOptions& options_;
  PickleWriter pickle_;
  const bool imported_;
  const EventIndex first_;  // of the recording
  const bool write_categories_;
  bool unknown_said_ = false;
  std::vector<int64_t> shown_us_;      // of every event; empty: as recorded
  std::vector<uint32_t> frame_memos_;  // by frame
  std::vector<uint32_t> stack_memos_;  // by StackId
  uint32_t no_frames_ = kNoMemo;
  absl::flat_hash_map<std::pair<std::string, std::string>, uint32_t> module_frames_;
  absl::flat_hash_map<uint64_t, uint32_t> op_stacks_;  // op and module
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
  }
  return "unknown";
}

absl::Status WriteSnapshot(const trace::Trace& trace, std::ostream& out,
                           const SnapshotOptions& options) {
  return SnapshotWriter(trace, out, options).Write();
}

}  // namespace vramscope::exporters
