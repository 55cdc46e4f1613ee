// A whole trace in memory: columns of events and the tables derived from them. Everything that
// computes with memory (curves, peak, timeline, exports) reads only these tables, whether the trace
// came from a worker, a `.trace` file or an imported snapshot.
//
//   ASSIGN_OR_RETURN(std::shared_ptr<const Trace> t, ReadTraceFile(path, {}));
//   for (uint32_t a = 0; a < t->allocations.size(); ++a) use(t->allocations.bytes[a]);
//
// Immutable once built; share it between threads by shared_ptr<const Trace>.
#pragma once

#include <absl/status/status.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activities.h"
#include "profiler/trace/packed_column.h"
#include "profiler/trace/shared_column.h"
#include "profiler/trace/trace_info.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

// Event columns, in time order. Row i of every column belongs to event i.
struct EventTable {
  SharedColumn<EventKind> kind;
  PackedColumn<int64_t> time_ns;
  PackedColumn<uint64_t> id;
  SharedColumn<Category> category;  // of Alloc and Retag events
  PackedColumn<uint8_t> detail;
  PackedColumn<uint64_t> bytes;
  PackedColumn<uint64_t> bytes_rounded;
  PackedColumn<StringId> name;
  PackedColumn<StackId> stack;             // empty if no event has one
  PackedColumn<StringId> user_metadata;    // empty if no event has any
  PackedColumn<StringId> compile_context;  // empty if no event has any
  uint32_t size() const { return static_cast<uint32_t>(kind.size()); }
  // Returns whether this table begins with the events of `earlier`, a TraceBuilder::Snapshot.
  // Returns false also if that is unknown.
  bool GoOnFrom(const EventTable& earlier) const {
    return earlier.size() >= PackedRun::kValues && id.SharesBegin(earlier.id) &&
           time_ns.SharesBegin(earlier.time_ns) && bytes.SharesBegin(earlier.bytes) &&
           name.SharesBegin(earlier.name);
  }
  StackId StackOf(EventIndex i) const { return stack.empty() ? StackId{} : stack[i]; }
  StringId UserMetadataOf(EventIndex i) const {
    return user_metadata.empty() ? StringId{} : user_metadata[i];
  }
  StringId CompileContextOf(EventIndex i) const {
    return compile_context.empty() ? StringId{} : compile_context[i];
  }
};

// Call stacks without duplicates; row = StackId, row 0 is the empty stack. Frames are listed from
// the innermost outwards.
struct StackTable {
  std::vector<StringId> function;  // one row per frame
  std::vector<StringId> file;
  std::vector<uint32_t> line;
  std::vector<uint32_t> first = {0, 0};  // of row i: frames[first[i]] .. frames[first[i + 1] - 1]
  std::vector<uint32_t> frames;
  uint32_t size() const { return static_cast<uint32_t>(first.size() - 1); }
  uint32_t frame_count() const { return static_cast<uint32_t>(function.size()); }
  std::span<const uint32_t> Frames(StackId id) const {
    return std::span(frames).subspan(first[id.value], first[id.value + 1] - first[id.value]);
  }
};

// One row per allocation; row = AllocationId.
struct AllocationTable {
  PackedColumn<EventIndex> alloc_event;
  SharedColumn<EventIndex> free_requested_event;  // kNoEvent: alive at the end
  SharedColumn<EventIndex> free_event;            // the completed free; kNoEvent: alive at the end
  PackedColumn<int64_t> begin_ns;
  SharedColumn<int64_t> end_ns;  // end of the trace if alive at the end
  PackedColumn<uint64_t> bytes;
  PackedColumn<uint64_t> bytes_rounded;
  PackedColumn<uint64_t> address;
  PackedColumn<uint32_t> stream;
  PackedColumn<uint8_t> device;
  PackedColumn<Pool> pool;
  SharedColumn<Category> birth_category;
  SharedColumn<Category> category;  // the last category
  // The category that the allocation had for the longest time; in a tie, the one that it had for
  // the most events, then the first one. Used where one colour or word represents the whole
  // allocation. The last category is not suitable, because it may be set only at the free.
  SharedColumn<Category> main_category;
  PackedColumn<StringId> op;
  PackedColumn<StringId> module;
  PackedColumn<Phase> phase;          // phase of the allocation
  PackedColumn<int32_t> step;         // step of the allocation; -1: outside steps
  PackedColumn<int32_t> micro_batch;  // micro-batch of the allocation; -1: outside micro-batches
  PackedColumn<SegmentId> segment;    // the segment that contained it when it was allocated
  uint32_t size() const { return static_cast<uint32_t>(bytes.size()); }
};

// Category changes, in event order.
struct RetagTable {
  PackedColumn<EventIndex> event;
  PackedColumn<AllocationId> allocation;
  PackedColumn<Category> from;
  PackedColumn<Category> to;
  uint32_t size() const { return static_cast<uint32_t>(event.size()); }
};

struct SegmentTable {
  std::vector<EventIndex> alloc_event;
  std::vector<EventIndex> free_event;  // kNoEvent: alive at the end
  std::vector<uint64_t> bytes;
  std::vector<uint64_t> address;
  std::vector<uint32_t> stream;
  std::vector<uint8_t> device;
  std::vector<Pool> pool;
  std::vector<uint8_t> expandable;  // 1: `bytes` is only an address range; map events add memory
  std::vector<uint32_t> mempool;
  uint32_t size() const { return static_cast<uint32_t>(bytes.size()); }
};

// Steps, micro-batches, phases, modules, ops and annotations: begin/end pairs, in order of their
// begin event.
struct SliceTable {
  SharedColumn<SliceKind> kind;
  PackedColumn<int64_t> begin_ns;
  SharedColumn<int64_t> end_ns;  // end of the trace if never closed
  PackedColumn<EventIndex> begin_event;
  SharedColumn<EventIndex> end_event;  // kNoEvent: never closed
  PackedColumn<StringId> name;         // module path, op, annotation; empty for other kinds
  PackedColumn<StringId> module;       // of an op: the module that called it
  PackedColumn<uint32_t> number;       // step or micro-batch number; Phase for a phase
  PackedColumn<int32_t> step;          // number of the enclosing step; -1: none
  PackedColumn<uint32_t> depth;        // nesting depth among slices of its kind and thread
  PackedColumn<uint32_t> thread;
  uint32_t size() const { return static_cast<uint32_t>(kind.size()); }
  Phase phase(uint32_t row) const { return static_cast<Phase>(number[row]); }
};

// Events that no other table has (segment maps, out of memory, device usage, markers), in event
// order. The columns are the fields that EventTable lacks.
struct OtherEventTable {
  std::vector<EventIndex> event;
  std::vector<uint64_t> address;
  std::vector<uint32_t> stream;
  std::vector<uint32_t> thread;
  std::vector<uint8_t> device;
  std::vector<Pool> pool;
  std::vector<StringId> module;
  uint32_t size() const { return static_cast<uint32_t>(event.size()); }
};

struct Marker {
  EventIndex event;
  int64_t time_ns;
  StringId name;
};

struct Trace {
  TraceInfo info;
  std::vector<std::string> strings;  // [0] is ""
  // Folders of packages that are not called "site-packages" (PackageFolderOf in python_files.h).
  std::vector<std::string> package_folders;
  EventTable events;
  AllocationTable allocations;
  RetagTable retags;
  SegmentTable segments;
  SliceTable slices;
  OtherEventTable other_events;
  ActivityTable activities;  // kernels, memcpys and calls, by begin
  OperandTable operands;     // sorted by begin; empty: no addresses were recorded
  std::vector<Marker> markers;
  StackTable stacks;
  // The kMarkerRecordingBegin event, or kNoEvent if no memory is in use when the trace begins.
  EventIndex recording_begin = kNoEvent;

  bool complete = false;              // the run ended normally and everything was read
  std::string end_message;            // why the trace is not complete
  std::vector<std::string> warnings;  // losses and oddities found while reading

  // begin_ns() includes activities, which may begin before all events; end_ns() does not.
  int64_t begin_ns() const {
    const int64_t first = activities.size() ? activities.begin_ns.front() : INT64_MAX;
    if (events.size() == 0) return activities.size() ? first : 0;
    return std::min(first, events.time_ns.front());
  }
  int64_t end_ns() const { return events.size() ? events.time_ns.back() : 0; }
  std::string_view String(StringId id) const { return strings[id.value]; }
};

// Expected sizes of the tables. Only used to reserve memory.
struct TableSizes {
  size_t events = 0, allocations = 0, retags = 0, slices = 0, activities = 0;
};

// Turns batches of events into a Trace. Not thread-safe. Refuses events that no producer writes:
// ids out of order, a free of a freed allocation, a string id not yet defined, decreasing times, an
// end without its begin. The error is kDataLoss and names the event. Events before a refused event
// are kept.
//
// Fields that a kind does not use (types.h) are cleared. An end event gets the name, number and
// phase of the begin event that it closes. This is the innermost open begin event of its kind in
// its process (in its thread for modules, ops and annotations). A free that completes without a
// request counts as requested when it completes.
class TraceBuilder {
 public:
  TraceBuilder();
  ~TraceBuilder();
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;

  void SetInfo(TraceInfo info);
  void Reserve(const TableSizes& sizes);
  absl::Status AddStrings(uint32_t first_id, std::span<const std::string> values);
  absl::Status AddStacks(const StackIncrement& increment);
  absl::Status AddEvents(std::span<const Event> events);
  // May be called at any time, with activities in any order. Returns the errors of CheckActivity.
  absl::Status AddActivities(std::span<const Activity> activities);
  void AddWarning(std::string text);
  uint64_t events() const;
  // Returns a trace of everything that has arrived so far (to show while a run is in progress).
  std::shared_ptr<const Trace> Snapshot() const;
  // Ends the trace; the builder is then empty.
  std::shared_ptr<const Trace> Finish(bool complete, std::string end_message);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
