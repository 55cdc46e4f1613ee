// What a recorded file contains, before anything is inferred: the allocator's entries as columns,
// the blocks at the end, and annotations. Importers (snapshot pickle and JSON, Kineto) fill a
// Recording, inference labels it, and Emit turns it into a Trace.
//
//   ASSIGN_OR_RETURN(Recording r, ReadSnapshot(input, options));   // importers/snapshot.h
//   ASSIGN_OR_RETURN(History h, Reconstruct(r));
//   Labels labels = inference::Infer(r, h);                        // inference/infer.h
//   Emit(r, h, labels, sink);
//
// Plain values; filled by one thread, then read-only.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/device_profile.h"
#include "profiler/trace/event_sink.h"
#include "profiler/trace/trace.h"
#include "profiler/trace/types.h"

namespace vramscope::recording {

using EntryIndex = uint32_t;
inline constexpr EntryIndex kNoEntry = std::numeric_limits<EntryIndex>::max();

// PyTorch's TraceEntry actions.
enum class Action : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOutOfMemory,  // address: bytes free on the device
  kOther,        // unknown action; a warning has the number and the names
  kAnnotate,     // a note of the program
  kCategory,     // `recorded_category`: new category of the block at `address`; right after the
                 // block's kAlloc: the block's first category
};

// The entries of all devices in order of time (each device's own order is kept), one row per entry.
// For Reconstruct, `time_ns` and `stack` may be empty.
struct EntryTable {
  std::vector<Action> action;
  std::vector<uint64_t> address;
  std::vector<uint64_t> bytes;   // as recorded: requested size of a block, size of a segment
  std::vector<int64_t> time_ns;  // since Recording::start_unix_ns; never decreases
  std::vector<trace::StackId> stack;
  std::vector<uint32_t> stream;                    // row of Recording::streams
  std::vector<uint8_t> device;                     // empty: all entries are of device 0
  std::vector<trace::Category> recorded_category;  // category in the file; empty: no entry has one
  // PyTorch's texts with these names, as ids of Recording::strings; empty: no entry has one.
  std::vector<trace::StringId> user_metadata, compile_context;
  uint32_t size() const { return static_cast<uint32_t>(action.size()); }
  trace::StackId StackOf(EntryIndex i) const { return stack.empty() ? trace::StackId() : stack[i]; }
  uint8_t DeviceOf(EntryIndex i) const { return device.empty() ? 0 : device[i]; }
  trace::StringId UserMetadataOf(EntryIndex i) const {
    return user_metadata.empty() ? trace::StringId() : user_metadata[i];
  }
  trace::StringId CompileContextOf(EntryIndex i) const {
    return compile_context.empty() ? trace::StringId() : compile_context[i];
  }
};

enum class BlockUse : uint8_t { kAllocated, kPendingFree, kInactive };

struct BlockState {
  uint64_t address = 0, bytes = 0, requested = 0;
  BlockUse use = BlockUse::kInactive;
  trace::StackId stack = {};
  trace::Category recorded_category = trace::Category::kUnknown;
  bool bytes_known = true;  // false: `bytes` is a minimum
};

struct SegmentState {
  uint64_t address = 0, bytes = 0;
  uint32_t stream = 0;  // row of Recording::streams
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  bool expandable = false;
  uint32_t mempool = 0;  // 0: the default pool; else first << 16 | second of segment_pool_id
  trace::StackId stack = {};
  std::vector<BlockState> blocks = {};  // sorted by address
};

// A range that the program named (external_annotations, user_annotation). If the file lacks the
// begin, begin_ns is 0. If it lacks the end, end_ns is the time of the last entry.
struct Annotation {
  trace::StringId name = {};
  int64_t begin_ns = 0, end_ns = 0;
  uint8_t device = 0;
};

// An allocation that existed before the first entry. Used in recordings whose earlier entries were
// cut off.
struct OlderAlloc {
  uint64_t address = 0, requested = 0;
  uint64_t bytes = 0;   // size of the block, from entries that were cut off; 0: unknown
  uint32_t stream = 0;  // row of Recording::streams
  uint8_t device = 0;
  bool bytes_known = false;  // History::Allocations::bytes_known
  bool pending = false;      // its free was requested
  trace::StackId stack = {};
};

struct Recording {
  std::string source;      // "CUDA memory snapshot (pickle, protocol 4)"
  std::string device;      // name of the only device if it is not numbered: "cpu"
  run::DeviceProfile gpu;  // the GPU, if the file names exactly one; else empty
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF, as in the file or composed from settings
  int64_t start_unix_ns = 0;
  bool has_segments = false;      // false: the file has no segments (Kineto)
  bool bytes_are_blocks = false;  // entries have block sizes, not requested sizes (Kineto)
  bool overflowed = false;        // the ring was full: the oldest entries are lost
  // Whether vramscope wrote the file with inferred labels, which inference then replaces.
  bool labels_are_inferred = false;
  // Whether vramscope wrote the file with all categories. Unknown blocks then stay unknown.
  bool labels_are_complete = false;
  bool has_times = true;  // false: time_ns counts entries of the file
  // kState means that there are no entries, only the memory at one time.
  trace::Content content = trace::Content::kRun;
  // The figures of torch.cuda.memory_stats(). A file that has these has nothing else.
  std::vector<trace::Statistic> statistics;
  std::string lost;  // the part of a cut file that could not be read; "": the file is whole
  std::vector<std::string> strings = {""};
  trace::StackTable stacks;
  EntryTable entries;
  // Segments at the end, by (device, address); may be unused (Kineto).
  std::vector<SegmentState> segments;
  // Older blocks, sorted by (device, address). The list has their stacks. In a file without
  // segments, it also shows which older blocks were live.
  std::vector<OlderAlloc> older;
  std::vector<uint64_t> streams = {0};  // as recorded (pointers or numbers)
  std::vector<Annotation> annotations;  // sorted by begin
  // Other events of the file (ops, modules, device usage), sorted by time. String ids, here and in
  // the activities, refer to `strings`.
  std::vector<trace::Event> extras;
  std::vector<trace::Activity> activities;  // kernels, memcpys, calls; in any order
  std::vector<std::string> warnings;
};

// The entries of each allocation, and the memory before the first entry.
struct History {
  // Allocations in the order in which they are emitted: first those older than the recording (by
  // device and address), then the others (by entry).
  struct Allocations {
    std::vector<EntryIndex> alloc;           // kNoEntry: older than the recording
    std::vector<EntryIndex> free_requested;  // kNoEntry: never, or not recorded
    // The block's kFreeCompleted. If the file lacks it: the kFreeRequested. If it lacks both: the
    // kAlloc that reused the memory (see `displaced`). kNoEntry: never freed.
    std::vector<EntryIndex> free_completed;
    std::vector<uint64_t> address, requested, bytes;  // bytes: of the block, unsplit tail included
    std::vector<uint32_t> stream;                     // row of Recording::streams
    std::vector<uint8_t> device;
    std::vector<trace::Pool> pool;
    // The stack of the kAlloc entry or, without one, of the block at the end; 0: unknown.
    std::vector<trace::StackId> stack;
    // Whether the file shows `bytes`. False only for an older block freed during the recording.
    // Such a block may have an unsplit tail of unknown size, for which replay searches.
    std::vector<bool> bytes_known;
    uint32_t size() const { return static_cast<uint32_t>(alloc.size()); }
  };
  Allocations allocations;
  uint32_t older = 0;               // allocations[0 .. older) are older than the recording
  std::vector<bool> older_pending;  // older row -> free requested before the start
  // The segments at the first entry, by (device, address). An expandable segment has all addresses
  // that were ever mapped. Its blocks are the memory that was mapped at the first entry (none if
  // nothing was), with unmapped gaps between them.
  std::vector<SegmentState> start_segments;
  // The segments that valid kSegmentAlloc entries allocated, in order of the entries. The pool is
  // from the file if the segment exists at the end. If not, it is concluded from the size.
  struct NewSegment {
    EntryIndex entry = 0;
    trace::Pool pool = trace::Pool::kSmall;
    uint32_t mempool = 0;
  };
  std::vector<NewSegment> new_segments;
  std::vector<uint32_t> allocation_of_entry;  // entry -> row of allocations; UINT32_MAX for entries
                                              // that are no alloc or free
  // Rows of allocations whose free is not in the file, sorted by the entry that shows the free.
  std::vector<uint32_t> displaced;
  std::vector<EntryIndex> left_out;   // entries that contradict the state, ascending
  std::vector<std::string> warnings;  // numbers of contradicting entries, and their treatment
};

// The states at the start and end of the entries [begin, end) of a recording.
struct Part {
  std::vector<OlderAlloc> older;       // state before `begin`; `stack` comes from `stack_of`
  std::vector<SegmentState> segments;  // state before `end`; Recording::segments of the part
};
// `history` is the history of `whole`; `stack_of` returns the stack of an entry of `whole`.
Part PartOf(const Recording& whole, const History& history, EntryIndex begin, EntryIndex end,
            const std::function<trace::StackId(EntryIndex)>& stack_of);

// Repairs a recording whose last entries are lost, but whose segments show the state after these.
// Converts the segments to those at the last existing entry. Memory without entries is assumed to
// have existed all the time. Returns kInvalidArgument as Reconstruct does.
absl::Status EndAtLastEntry(Recording& recording);

// Rolls the end state back over the entries, then walks forward again, block by block. Entries that
// contradict the state (a skipped action, a damaged file) are left out and counted in warnings;
// this is not an error. kInvalidArgument: columns of different lengths.
absl::StatusOr<History> Reconstruct(const Recording& recording);

// The results of inference. inference/rules.h numbers the rules; 0: the value is from the file.
struct Labels {
  std::vector<trace::Category> category;  // first category of every allocation of the History
  std::vector<uint8_t> rule;
  std::vector<trace::StringId> op;  // innermost operator; ids of `strings`
  std::vector<trace::StringId> module;
  struct Retag {
    EntryIndex at = 0;  // takes effect directly before this entry
    uint32_t allocation = 0;
    trace::Category category = trace::Category::kUnknown;
    uint8_t rule = 0;
  };
  std::vector<Retag> retags;  // sorted by `at`
  // [begin, end) are entries; end may be the number of entries. Phases are within steps.
  struct Step {
    EntryIndex begin = 0, end = 0;
    uint32_t number = 0;
    uint8_t rule = 0;
  };
  std::vector<Step> steps;  // sorted by begin, not overlapping
  struct PhaseRange {
    EntryIndex begin = 0, end = 0;
    trace::Phase phase = trace::Phase::kNone;
    uint8_t rule = 0;
  };
  std::vector<PhaseRange> phases;  // sorted by begin, not overlapping
  // An event (step, phase, module, retag, marker) directly before entry `at`, or after all entries
  // if `at` is their number. The order of these events is kept; times do not decrease.
  struct Placed {
    EntryIndex at = 0;
    trace::Event event;
  };
  std::vector<Placed> placed;        // sorted by `at`
  std::vector<std::string> strings;  // added by inference; their ids continue after the file's
};

// Adds the file's categories and their changes to `labels`, with rule 0. If the file has a category
// for a block, the block's inferred changes are removed. If `labels_are_complete`, all inferred
// categories are removed.
void ApplyRecordedLabels(const Recording& recording, const History& history, Labels& labels);

// Names of the markers for entries that are not allocator events.
inline constexpr std::string_view kMarkerSnapshot = "snapshot";
inline constexpr std::string_view kMarkerOther = "other entry";
inline constexpr std::string_view kMarkerAnnotate = "annotate";
inline constexpr std::string_view kMarkerLeftOut = "left out: ";  // followed by the action's name

std::string_view Name(Action action);  // "alloc", "free_requested", ... "annotate", "category"

// Returns the number that events use for each row of Recording::streams: the recorded number, or
// the row if some recorded numbers do not fit into 32 bits.
std::vector<uint32_t> StreamNumbers(const Recording& recording);

// Emits the whole trace: first older segments and blocks, then the marker kMarkerRecordingBegin,
// then entries, segments, steps, phases, annotations and extras, merged by time. Calls the sink's
// Begin and End; `complete` is always true, and the caller passes warnings to the builder.
//
// No entry is lost: left-out entries, kSnapshot and kOther become markers (with address, bytes,
// stream, device and stack). An annotation's thread is its device << 8, plus a number that differs
// for overlapping annotations. Streams are numbered by StreamNumbers().
void Emit(const Recording& recording, const History& history, const Labels& labels,
          trace::EventSink& sink);

}  // namespace vramscope::recording
