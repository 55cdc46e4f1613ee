#include "profiler/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/activity_sorter.h"
#include "profiler/trace/columns.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/main_category.h"
#include "profiler/trace/processes.h"
#include "profiler/trace/python_files.h"
#include "profiler/trace/shared_snapshots.h"

namespace vramscope::trace {
namespace {

// Live segments by address, to find the one that contains a block.
class SegmentMap {
 public:
  void Add(uint8_t device, uint64_t address, uint64_t bytes, uint32_t id) {
    rows_.emplace(Key{device, address}, Row{bytes, id});
    last_ = rows_.end();
  }
  void Remove(uint8_t device, uint64_t address, uint32_t id) {
    auto [at, end] = rows_.equal_range(Key{device, address});
    while (at != end && at->second.id != id) ++at;
    if (at != end) rows_.erase(at);
    last_ = rows_.end();
  }
  SegmentId Find(uint8_t device, uint64_t address) {
    if (last_ == rows_.end() || !Holds(*last_, device, address)) {
      last_ = rows_.upper_bound(Key{device, address});
      if (last_ == rows_.begin()) {
        last_ = rows_.end();
        return {};
      }
      --last_;
      if (!Holds(*last_, device, address)) {
        last_ = rows_.end();
        return {};
      }
    }
    return {last_->second.id};
  }

 private:
  using Key = std::pair<uint8_t, uint64_t>;  // device, address
  struct Row {
    uint64_t bytes;
    uint32_t id;
  };
  using Rows = std::multimap<Key, Row>;
  static bool Holds(const Rows::value_type& row, uint8_t device, uint64_t address) {
    return row.first.first == device && address >= row.first.second &&
           address - row.first.second < row.second.bytes;
  }
  Rows rows_;
  Rows::iterator last_ = rows_.end();
};

}  // namespace

struct TraceBuilder::Impl {
  Trace trace;
  ActivitySorter activities{trace.activities}, operands{trace.operands};
  SharedSnapshots snapshots;
  SegmentMap segment_map;
  struct Thread {
    std::vector<uint32_t> modules, ops, annotations;  // open slices
  };
  // The open slices of one process. There is one such object for each process number.
  struct Process {
    std::vector<uint32_t> steps, micro_batches, phases;  // open slices
    int32_t step = -1, micro_batch = -1;
    Phase phase = Phase::kNone;
  };
  std::vector<Process> processes = std::vector<Process>(1);
  std::array<uint8_t, 256> process_of_device{};
  std::unordered_map<uint32_t, Thread> threads;
  uint32_t last_thread_number = 0;
  Thread* last_thread = nullptr;

  Impl() { trace.strings.emplace_back(); }

  Process& ProcessOf(const Event& slice) {
    return processes[processes.size() > 1 ? ProcessOfThread(slice.thread) : 0];
  }

  Thread& ThreadOf(uint32_t number) {
    if (last_thread == nullptr || last_thread_number != number) {
      last_thread = &threads[number];  // the map's nodes do not move
      last_thread_number = number;
    }
    return *last_thread;
  }

  absl::Status Bad(EventIndex index, EventKind kind, std::string_view what) const {
    return absl::DataLossError(i18n::Format("event {} ({}): {}", index, Name(kind), what));
  }

  // For an end event, fills `e` with the fields of its begin event.
  absl::Status Add(EventIndex index, Event& e);
  absl::Status AddAlloc(EventIndex index, const Event& e);
  absl::Status AddFree(EventIndex index, const Event& e);
  absl::Status AddRetag(EventIndex index, const Event& e);
  absl::Status AddSegment(EventIndex index, const Event& e);
  absl::Status AddMap(EventIndex index, const Event& e);
  absl::Status Begin(EventIndex index, const Event& e, SliceKind kind, uint64_t number,
                     std::vector<uint32_t>& open);
  absl::Status End(EventIndex index, Event& e, std::vector<uint32_t>& open);
  void AddActivity(EventIndex index, const Event& e);
  int32_t NumberOfTop(const std::vector<uint32_t>& open) const {
    return open.empty() ? -1 : static_cast<int32_t>(trace.slices.number[open.back()]);
  }
  static uint32_t HighestString(const Event& e) {
    return std::max({e.name.value, e.module.value, e.user_metadata.value, e.compile_context.value});
  }
  bool KnownStrings(const Event& e) const { return HighestString(e) < trace.strings.size(); }
  bool KnownStack(const Event& e) const { return e.stack.value < trace.stacks.size(); }
  void CloseOpenEnds(Trace& t) const;
};

absl::Status TraceBuilder::Impl::AddAlloc(EventIndex index, const Event& e) {
  AllocationTable& a = trace.allocations;
  if (e.id != a.size())
    return Bad(index, e.kind, i18n::Format("has id {} instead of {}", e.id, a.size()));
  if (static_cast<int>(e.category) >= kCategoryCount)
    return Bad(index, e.kind,
               i18n::Format("has unknown category {}", static_cast<int>(e.category)));
  if (e.pool > Pool::kLarge)
    return Bad(index, e.kind, i18n::Format("has unknown pool {}", static_cast<int>(e.pool)));
  a.alloc_event.push_back(index);
  a.free_requested_event.push_back(kNoEvent);
  a.free_event.push_back(kNoEvent);
  a.begin_ns.push_back(e.time_ns);
  a.end_ns.push_back(e.time_ns);
  a.bytes.push_back(e.bytes);
  a.bytes_rounded.push_back(e.bytes_rounded);
  a.address.push_back(e.address);
  a.stream.push_back(e.stream);
  a.device.push_back(e.device);
  a.pool.push_back(e.pool);
  a.birth_category.push_back(e.category);
  a.category.push_back(e.category);
  a.op.push_back(e.name);
  a.module.push_back(e.module);
  const Process& process = processes[process_of_device[e.device]];
  a.phase.push_back(process.phase);
  a.step.push_back(process.step);
  a.micro_batch.push_back(process.micro_batch);
  a.segment.push_back(segment_map.Find(e.device, e.address));
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::AddFree(EventIndex index, const Event& e) {
  AllocationTable& a = trace.allocations;
  if (e.id >= a.size())
    return Bad(
        index, e.kind,
        i18n::Format("frees allocation {}, but there are only {} allocations", e.id, a.size()));
  const bool completed = e.kind == EventKind::kFreeCompleted;
  const bool requested = a.free_requested_event[e.id] != kNoEvent;
  if (a.free_event[e.id] != kNoEvent || (!completed && requested))
    return Bad(index, e.kind, i18n::Format("frees allocation {}, which is already freed", e.id));
  if (!requested) a.free_requested_event.Set(e.id, index);
  if (completed) {
    a.free_event.Set(e.id, index);
    a.end_ns.Set(e.id, e.time_ns);
  }
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::AddRetag(EventIndex index, const Event& e) {
  AllocationTable& a = trace.allocations;
  if (e.id >= a.size() || a.free_event[e.id] != kNoEvent)
    return Bad(index, e.kind, i18n::Format("its allocation {} is not live", e.id));
  if (static_cast<int>(e.category) >= kCategoryCount)
    return Bad(index, e.kind,
               i18n::Format("has unknown category {}", static_cast<int>(e.category)));
  RetagTable& r = trace.retags;
  r.event.push_back(index);
  r.allocation.push_back({static_cast<uint32_t>(e.id)});
  r.from.push_back(a.category[e.id]);
  r.to.push_back(e.category);
  a.category.Set(e.id, e.category);
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::AddSegment(EventIndex index, const Event& e) {
  SegmentTable& s = trace.segments;
  if (e.kind == EventKind::kSegmentFree) {
    if (e.id >= s.size() || s.free_event[e.id] != kNoEvent)
      return Bad(index, e.kind, i18n::Format("its segment {} is not live", e.id));
    s.free_event[e.id] = index;
    segment_map.Remove(s.device[e.id], s.address[e.id], static_cast<uint32_t>(e.id));
    return absl::OkStatus();
  }
  if (e.id != s.size())
    return Bad(index, e.kind, i18n::Format("has id {} instead of {}", e.id, s.size()));
  if (e.pool > Pool::kLarge)
    return Bad(index, e.kind, i18n::Format("has unknown pool {}", static_cast<int>(e.pool)));
  s.alloc_event.push_back(index);
  s.free_event.push_back(kNoEvent);
  s.bytes.push_back(e.bytes);
  s.address.push_back(e.address);
  s.stream.push_back(e.stream);
  s.device.push_back(e.device);
  s.pool.push_back(e.pool);
  s.expandable.push_back(e.detail != 0);
  s.mempool.push_back(e.mempool);
  segment_map.Add(e.device, e.address, e.bytes, static_cast<uint32_t>(e.id));
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::AddMap(EventIndex index, const Event& e) {
  const SegmentTable& s = trace.segments;
  if (e.id >= s.size() || s.free_event[e.id] != kNoEvent || !s.expandable[e.id])
    return Bad(index, e.kind, i18n::Format("its segment {} is not live or not expandable", e.id));
  if (e.address < s.address[e.id] || e.bytes > s.bytes[e.id] ||
      e.address - s.address[e.id] > s.bytes[e.id] - e.bytes)
    return Bad(index, e.kind, i18n::Format("lies outside segment {}", e.id));
  if (e.pool > Pool::kLarge)
    return Bad(index, e.kind, i18n::Format("has unknown pool {}", static_cast<int>(e.pool)));
  AddActivity(index, e);
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::Begin(EventIndex index, const Event& e, SliceKind kind,
                                       uint64_t number, std::vector<uint32_t>& open) {
  if (number > INT32_MAX)
    return Bad(index, e.kind, i18n::Format("has number {}, which is out of range", number));
  SliceTable& s = trace.slices;
  const uint32_t row = s.size();
  s.kind.push_back(kind);
  s.begin_ns.push_back(e.time_ns);
  s.end_ns.push_back(e.time_ns);
  s.begin_event.push_back(index);
  s.end_event.push_back(kNoEvent);
  s.name.push_back(e.name);
  s.module.push_back(e.module);
  s.number.push_back(static_cast<uint32_t>(number));
  s.step.push_back(kind == SliceKind::kStep ? static_cast<int32_t>(number) : ProcessOf(e).step);
  s.depth.push_back(static_cast<uint32_t>(open.size()));
  s.thread.push_back(e.thread);
  open.push_back(row);
  return absl::OkStatus();
}

absl::Status TraceBuilder::Impl::End(EventIndex index, Event& e, std::vector<uint32_t>& open) {
  if (open.empty()) return Bad(index, e.kind, i18n::Text("ends a range that did not begin"));
  const uint32_t row = open.back();
  open.pop_back();
  SliceTable& s = trace.slices;
  s.end_ns.Set(row, e.time_ns);
  s.end_event.Set(row, index);
  e.name = s.name[row];
  if (s.kind[row] == SliceKind::kPhase)
    e.detail = static_cast<uint8_t>(s.number[row]);
  else
    e.id = s.number[row];
  return absl::OkStatus();
}

void TraceBuilder::Impl::AddActivity(EventIndex index, const Event& e) {
  OtherEventTable& a = trace.other_events;
  a.event.push_back(index);
  a.address.push_back(e.address);
  a.stream.push_back(e.stream);
  a.thread.push_back(e.thread);
  a.device.push_back(e.device);
  a.pool.push_back(e.pool);
  a.module.push_back(e.module);
  if (e.kind == EventKind::kMarker) {
    trace.markers.push_back({index, e.time_ns, e.name});
    if (trace.recording_begin == kNoEvent && trace.String(e.name) == kMarkerRecordingBegin)
      trace.recording_begin = index;
    if (IsProcessMarker(trace.String(e.name))) {
      processes.resize(256);
      process_of_device[e.device] = ProcessOfThread(e.thread);
    }
  }
}

absl::Status TraceBuilder::Impl::Add(EventIndex index, Event& e) {
  switch (e.kind) {
    case EventKind::kAlloc:
      return AddAlloc(index, e);
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
      return AddFree(index, e);
    case EventKind::kRetag:
      return AddRetag(index, e);
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
      return AddSegment(index, e);
    case EventKind::kPhaseBegin: {
      if (e.detail >= kPhaseCount)
        return Bad(index, e.kind, i18n::Format("has unknown phase {}", e.detail));
      Process& process = ProcessOf(e);
      absl::Status status = Begin(index, e, SliceKind::kPhase, e.detail, process.phases);
      process.phase = static_cast<Phase>(e.detail);
      return status;
    }
    case EventKind::kPhaseEnd: {
      Process& process = ProcessOf(e);
      absl::Status status = End(index, e, process.phases);
      process.phase =
          process.phases.empty() ? Phase::kNone : static_cast<Phase>(NumberOfTop(process.phases));
      return status;
    }
    case EventKind::kStepBegin: {
      Process& process = ProcessOf(e);
      absl::Status status = Begin(index, e, SliceKind::kStep, e.id, process.steps);
      process.step = NumberOfTop(process.steps);
      return status;
    }
    case EventKind::kStepEnd: {
      Process& process = ProcessOf(e);
      absl::Status status = End(index, e, process.steps);
      process.step = NumberOfTop(process.steps);
      return status;
    }
    case EventKind::kMicroBatchBegin: {
      Process& process = ProcessOf(e);
      absl::Status status = Begin(index, e, SliceKind::kMicroBatch, e.id, process.micro_batches);
      process.micro_batch = NumberOfTop(process.micro_batches);
      return status;
    }
    case EventKind::kMicroBatchEnd: {
      Process& process = ProcessOf(e);
      absl::Status status = End(index, e, process.micro_batches);
      process.micro_batch = NumberOfTop(process.micro_batches);
      return status;
    }
    case EventKind::kModuleBegin:
      return Begin(index, e, SliceKind::kModule, 0, ThreadOf(e.thread).modules);
    case EventKind::kModuleEnd:
      return End(index, e, ThreadOf(e.thread).modules);
    case EventKind::kOpBegin:
      return Begin(index, e, SliceKind::kOp, 0, ThreadOf(e.thread).ops);
    case EventKind::kOpEnd:
      return End(index, e, ThreadOf(e.thread).ops);
    case EventKind::kAnnotationBegin:
      return Begin(index, e, SliceKind::kAnnotation, 0, ThreadOf(e.thread).annotations);
    case EventKind::kAnnotationEnd:
      return End(index, e, ThreadOf(e.thread).annotations);
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
      return AddMap(index, e);
    case EventKind::kOutOfMemory:
    case EventKind::kDeviceUsage:
    case EventKind::kMarker:
      if (static_cast<int>(e.category) >= kCategoryCount || e.pool > Pool::kLarge)
        return Bad(index, e.kind, i18n::Text("has a category or pool out of range"));
      AddActivity(index, e);
      return absl::OkStatus();
  }
  return Bad(index, e.kind, i18n::Format("has unknown kind {}", static_cast<int>(e.kind)));
}

// Everything that is still open at the end of the trace ends there.
void TraceBuilder::Impl::CloseOpenEnds(Trace& t) const {
  const int64_t end = t.end_ns();
  for (uint32_t a = 0; a < t.allocations.size(); ++a)
    if (t.allocations.free_event[a] == kNoEvent) t.allocations.end_ns.Set(a, end);
  const auto close = [&](const std::vector<uint32_t>& open) {
    for (const uint32_t row : open) t.slices.end_ns.Set(row, end);
  };
  for (const Process& process : processes) {
    close(process.steps);
    close(process.micro_batches);
    close(process.phases);
  }
  for (const auto& [number, thread] : threads) {
    close(thread.modules);
    close(thread.ops);
    close(thread.annotations);
  }
}

TraceBuilder::TraceBuilder() : impl_(std::make_unique<Impl>()) {}
TraceBuilder::~TraceBuilder() = default;
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;

void TraceBuilder::SetInfo(TraceInfo info) { impl_->trace.info = std::move(info); }

void TraceBuilder::Reserve(const TableSizes& sizes) {
  Trace& t = impl_->trace;
  const auto reserve = [](size_t n, auto&... columns) { (columns.reserve(n), ...); };
  EventTable& e = t.events;
  reserve(sizes.events, e.kind, e.time_ns, e.id, e.category, e.detail, e.bytes, e.bytes_rounded,
          e.name);
  const auto reserve_all = [](size_t n, auto& table) {
    ForEachColumn([n](auto& column) { column.reserve(n); }, table);
  };
  reserve_all(sizes.allocations, t.allocations);
  reserve_all(sizes.retags, t.retags);
  reserve_all(sizes.slices, t.slices);
  reserve_all(sizes.activities, t.activities);
}

uint64_t TraceBuilder::events() const { return impl_->trace.events.size(); }

absl::Status TraceBuilder::AddStrings(uint32_t first_id, std::span<const std::string> values) {
  std::vector<std::string>& strings = impl_->trace.strings;
  // Id 0 is the empty string, whether or not the producer sends it.
  if (first_id == 0 && strings.size() == 1 && !values.empty()) {
    if (!values.front().empty())
      return absl::DataLossError(i18n::Text("strings: id 0 must be the empty string"));
    first_id = 1;
    values = values.subspan(1);
  }
  if (first_id != strings.size() && !values.empty())
    return absl::DataLossError(
        i18n::Format("strings: ids begin at {} instead of {}", first_id, strings.size()));
  strings.insert(strings.end(), values.begin(), values.end());
  for (const std::string& value : values)
    if (const std::string_view folder = PackageFolderOf(value); !folder.empty())
      impl_->trace.package_folders.emplace_back(folder);
  return absl::OkStatus();
}

absl::Status TraceBuilder::AddStacks(const StackIncrement& in) {
  StackTable& s = impl_->trace.stacks;
  const size_t strings = impl_->trace.strings.size();
  if (in.first_frame != s.frame_count() || in.first_stack != s.size())
    return absl::DataLossError(
        i18n::Format("call stacks: the added frames begin with number {} instead of {}, and the "
                     "added stacks begin with number {} instead of {}",
                     in.first_frame, s.frame_count(), in.first_stack, s.size()));
  if (in.file.size() != in.function.size() || in.line.size() != in.function.size())
    return absl::DataLossError(i18n::Text("call stacks: the columns of frames differ in length"));
  const uint64_t frames = s.frame_count() + uint64_t{in.function.size()};
  const uint64_t used = s.frames.size() + uint64_t{in.frames.size()};
  uint64_t sum = 0;
  for (const uint32_t n : in.lengths) sum += n;
  if (sum != in.frames.size() || used > UINT32_MAX || frames > UINT32_MAX)
    return absl::DataLossError(
        i18n::Text("call stacks: the lengths of the stacks do not match the number of frames"));
  for (size_t i = 0; i < in.function.size(); ++i)
    if (in.function[i].value >= strings || in.file[i].value >= strings)
      return absl::DataLossError(i18n::Format("call stacks: frame {} has an undefined string", i));
  for (const uint32_t frame : in.frames)
    if (frame >= frames)
      return absl::DataLossError(i18n::Format(
          "call stacks: frame {} is used, but there are only {} frames", frame, frames));
  s.function.insert(s.function.end(), in.function.begin(), in.function.end());
  s.file.insert(s.file.end(), in.file.begin(), in.file.end());
  s.line.insert(s.line.end(), in.line.begin(), in.line.end());
  s.frames.insert(s.frames.end(), in.frames.begin(), in.frames.end());
  for (const uint32_t n : in.lengths) s.first.push_back(s.first.back() + n);
  return absl::OkStatus();
}

absl::Status TraceBuilder::AddEvents(std::span<const Event> events) {
  Impl& impl = *impl_;
  EventTable& t = impl.trace.events;
  const size_t first = t.kind.size();
  if (events.size() >= kNoEvent - first)
    return absl::ResourceExhaustedError(
        i18n::Format("the trace has more than {} events", kNoEvent - 1));
  int64_t time = first > 0 ? t.time_ns.back() : INT64_MIN;
  absl::Status status;
  // Adds up to kRows events at a time, one column after the other. Adding row by row takes a third
  // longer.
  constexpr size_t kRows = 256;
  std::array<Event, kRows> rows;
  for (size_t done = 0; done < events.size() && status.ok();) {
    const auto begin = static_cast<EventIndex>(first + done);
    const size_t wanted = std::min(kRows, events.size() - done);
    size_t n = 0;
    for (; n < wanted; ++n) {
      Event& e = rows[n] = Normalized(events[done + n]);
      const auto index = static_cast<EventIndex>(begin + n);
      if (e.time_ns < time)
        status = impl.Bad(index, e.kind, fmt::format("time {} ns after {} ns", e.time_ns, time));
      else if (!impl.KnownStrings(e))
        status = impl.Bad(
            index, e.kind,
            fmt::format("string {} of {}", Impl::HighestString(e), impl.trace.strings.size()));
      else if (!impl.KnownStack(e))
        status = impl.Bad(index, e.kind,
                          fmt::format("stack {} of {}", e.stack.value, impl.trace.stacks.size()));
      else
        status = impl.Add(index, e);
      if (!status.ok()) break;
      time = e.time_ns;
    }
    const std::span<const Event> good(rows.data(), n);
    const auto put = [good](auto& column, auto field) {
      for (const Event& e : good) column.push_back(e.*field);
    };
    put(t.kind, &Event::kind);
    put(t.time_ns, &Event::time_ns);
    put(t.id, &Event::id);
    put(t.category, &Event::category);
    put(t.detail, &Event::detail);
    put(t.bytes, &Event::bytes);
    put(t.bytes_rounded, &Event::bytes_rounded);
    put(t.name, &Event::name);
    // Columns that few traces use stay empty until they get their first value.
    const auto put_some = [&](auto& column, auto field) {
      if (column.empty()) {
        if (std::ranges::all_of(good, [&](const Event& e) { return (e.*field).value == 0; }))
          return;
        column.reserve(t.kind.size());
        column.resize(begin);
      }
      put(column, field);
    };
    put_some(t.stack, &Event::stack);
    put_some(t.user_metadata, &Event::user_metadata);
    put_some(t.compile_context, &Event::compile_context);
    done += wanted;
  }
  return status;
}

absl::Status TraceBuilder::AddActivities(std::span<const Activity> activities) {
  const Trace& t = impl_->trace;
  if (activities.size() >= UINT32_MAX - std::max(t.activities.size(), t.operands.size()))
    return absl::ResourceExhaustedError(
        i18n::Text("the trace has more than 4,294,967,294 activities"));
  absl::Status status;
  std::vector<Activity> batch, operands;
  batch.reserve(activities.size());
  for (const Activity& activity : activities) {
    status = CheckActivity(activity, impl_->trace.strings.size());
    if (!status.ok()) break;
    (activity.kind == ActivityKind::kOperand ? operands : batch).push_back(activity);
  }
  impl_->activities.Add(batch);
  impl_->operands.Add(operands);
  return status;
}

void TraceBuilder::AddWarning(std::string text) {
  impl_->trace.warnings.push_back(std::move(text));
}

std::shared_ptr<const Trace> TraceBuilder::Snapshot() const {
  impl_->activities.Settle();
  impl_->operands.Settle();
  Trace snapshot = impl_->snapshots.Take(
      impl_->trace, {impl_->activities.unchanged(), impl_->operands.unchanged()});
  impl_->activities.Mark();
  impl_->operands.Mark();
  impl_->CloseOpenEnds(snapshot);
  FillMainCategories(snapshot);
  return impl_->snapshots.HandOut(std::move(snapshot));
}

std::shared_ptr<const Trace> TraceBuilder::Finish(bool complete, std::string end_message) {
  impl_->activities.Settle();
  impl_->operands.Settle();
  auto trace = std::make_shared<Trace>(std::move(impl_->trace));
  impl_->CloseOpenEnds(*trace);
  FillMainCategories(*trace);
  trace->complete = complete;
  trace->end_message = std::move(end_message);
  impl_ = std::make_unique<Impl>();
  return trace;
}

}  // namespace vramscope::trace
