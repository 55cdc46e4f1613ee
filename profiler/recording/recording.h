// What a recorded file says, before anything is concluded from it: the allocator's entries as
// columns, the blocks at the end, annotations. Importers fill it (snapshot pickle and JSON,
// Kineto), inference labels it, Emit turns it into the Trace that everything else reads.
//
//   ASSIGN_OR_RETURN(Recording r, ReadSnapshot(input, options));   // importers/snapshot.h
//   ASSIGN_OR_RETURN(History h, Reconstruct(r));
//   Labels labels = inference::Infer(r, h);                        // inference/infer.h
//   Emit(r, h, labels, sink);
//
// Values; one thread fills, then read-only.
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
  kOther,        // kept opaque; a warning says how many and their names
  kAnnotate,     // a note of the program
  kCategory,     // of the block at `address`; `said`: what it is from here on, right after its
                 // kAlloc: what it was made as
};

// In time order, all devices together (each device's own order is kept). One row an entry.
// Reconstruct needs no `time_ns` and `stack`: both may be empty for it.
struct EntryTable {
  std::vector<Action> action;
  std::vector<uint64_t> address;
  std::vector<uint64_t> bytes;   // as recorded: requested bytes of a block, bytes of a segment
  std::vector<int64_t> time_ns;  // since Recording::start_unix_ns; never going down
  std::vector<trace::StackId> stack;
  std::vector<uint32_t> stream;       // row of Recording::streams
  std::vector<uint8_t> device;        // empty: all of device 0
  std::vector<trace::Category> said;  // category in the file; empty: the file has none
  // As PyTorch writes them, by string of the Recording; empty: no entry has any.
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
  trace::Category said = trace::Category::kUnknown;
  bool bytes_known = true;  // false: `bytes` is the least that it can be; its alloc may tell more
};

struct SegmentState {
  uint64_t address = 0, bytes = 0;
  uint32_t stream = 0;  // row of Recording::streams
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  bool expandable = false;
  uint32_t mempool = 0;  // 0: the default pool; else first << 16 | second of segment_pool_id
  trace::StackId stack = {};
  std::vector<BlockState> blocks = {};  // by address
};

// A range that the program named (external_annotations, user_annotation). An end without a begin
// has begin_ns 0, a begin without an end the time of the last entry.
struct Annotation {
  trace::StringId name = {};
  int64_t begin_ns = 0, end_ns = 0;
  uint8_t device = 0;
};

// An allocation that lived when the first entry came, of a recording whose earlier entries were
// cut off.
struct OlderAlloc {
  uint64_t address = 0, requested = 0;
  uint64_t bytes = 0;   // of its block, as the entries that were cut off tell; 0: not known
  uint32_t stream = 0;  // row of Recording::streams
  uint8_t device = 0;
  bool bytes_known = false;  // History::Allocations::bytes_known
  bool pending = false;      // its free was requested
  trace::StackId stack = {};
};

struct Recording {
  std::string source;       // "CUDA memory snapshot (pickle, protocol 4)"
  std::string device;       // what the only device is called, where it is no numbered one: "cpu"
  run::DeviceProfile card;  // of the only GPU, where the file says which; else empty
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF, from the string or put together from settings
  int64_t start_unix_ns = 0;
  bool has_segments = false;      // false: the file says nothing of segments (Kineto)
  bool bytes_are_blocks = false;  // entries have what was handed out, not what was asked (Kineto)
  bool overflowed = false;        // the ring was full: the oldest entries are lost
  bool labels_are_inferred = false;  // written by vramscope from inferred labels: infer again
  // Written by vramscope with the category of every block: what is unknown stays so.
  bool labels_are_complete = false;
  bool has_times = true;  // false: time_ns counts entries of the file
  // kState: no entries, only what was there at one moment.
  trace::Content content = trace::Content::kRun;
  std::vector<trace::Statistic> statistics;  // torch.cuda.memory_stats(): then nothing else
  std::string lost;  // what of a file that is cut could not be read; "": it is whole
  std::vector<std::string> strings = {""};
  trace::StackTable stacks;
  EntryTable entries;
  std::vector<SegmentState> segments;  // at the end, by (device, address); may be unused (Kineto)
  // By (device, address). Says where older blocks were made, and without segments which there were.
  std::vector<OlderAlloc> older;
  std::vector<uint64_t> streams = {0};  // as recorded (pointers or numbers)
  std::vector<Annotation> annotations;  // by begin
  // Further events of the file, by time: ops, modules, device usage. Ids of strings as here.
  std::vector<trace::Event> extras;
  std::vector<trace::Activity> activities;  // kernels, copies, calls; in any order, likewise
  std::vector<std::string> warnings;
};

// Which entries belong together, and what was there before the first of them.
struct History {
  // Allocations, in the order in which they are emitted: those older than the recording first (by
  // device and address), then by entry.
  struct Allocations {
    std::vector<EntryIndex> alloc;           // kNoEntry: older than the recording
    std::vector<EntryIndex> free_requested;  // kNoEntry: never, or not recorded
    // kNoEntry: never. Mostly a kFreeCompleted; of a file that leaves those out the kFreeRequested;
    // of one that leaves out both the kAlloc that took its place (`displaced`).
    std::vector<EntryIndex> free_completed;
    std::vector<uint64_t> address, requested, bytes;  // bytes: of the block, unsplit tail included
    std::vector<uint32_t> stream;                     // row of Recording::streams
    std::vector<uint8_t> device;
    std::vector<trace::Pool> pool;
    std::vector<trace::StackId> stack;  // of its alloc, or of its block at the end; 0: not known
    // True where `bytes` is what the file states or what follows from it; false: older than the
    // recording and freed within it, so that an unsplit tail would not be seen (replay searches).
    std::vector<bool> bytes_known;
    uint32_t size() const { return static_cast<uint32_t>(alloc.size()); }
  };
  Allocations allocations;
  uint32_t older = 0;               // allocations[0 .. older) are older than the recording
  std::vector<bool> older_pending;  // of those: the free was requested before the recording
  // Segments at the first entry, by (device, address). An expandable one is all addresses that were
  // ever mapped of it, its blocks what was mapped then (between them nothing is), without blocks
  // when nothing was.
  std::vector<SegmentState> start_segments;
  // What the kSegmentAlloc entries that fit made, by entry. Pools are the file's where the segment
  // is there at the end, else by its size.
  struct NewSegment {
    EntryIndex entry = 0;
    trace::Pool pool = trace::Pool::kSmall;
    uint32_t mempool = 0;
  };
  std::vector<NewSegment> new_segments;
  std::vector<uint32_t> allocation_of_entry;  // row of allocations for alloc/free entries; else max
  std::vector<uint32_t> displaced;    // rows whose free the file lacks, by the entry that shows it
  std::vector<EntryIndex> left_out;   // entries that fit nothing, ascending
  std::vector<std::string> warnings;  // how many entries fit nothing, and what was done
};

// A part of a recording: the entries [begin, end), and what was there before and after them.
struct Part {
  std::vector<OlderAlloc> older;       // before `begin`; `stack` as `stack_of` says
  std::vector<SegmentState> segments;  // before `end`, as Recording::segments of the part
};
// `history` is that of the whole, `stack_of` gives the stack of one of its entries.
Part PartOf(const Recording& whole, const History& history, EntryIndex begin, EntryIndex end,
            const std::function<trace::StackId(EntryIndex)>& stack_of);

// Of a recording whose last entries are lost, while its segments are those after them: makes them
// the segments at the last entry that is there. What no entry tells, memory that none of them
// touched, is taken to have been there all the time. kInvalidArgument as Reconstruct.
absl::Status EndAtLastEntry(Recording& recording);

// Rolls the end state back over the entries, then forward again, block by block. Entries that
// contradict the state (a skipped action, a damaged file) are left out and counted in warnings;
// that is not an error. kInvalidArgument: columns of different lengths.
absl::StatusOr<History> Reconstruct(const Recording& recording);

// What inference concluded. Rules are inference/rules.h's; 0: the file said it.
struct Labels {
  std::vector<trace::Category> category;  // at birth; one for every allocation of the History
  std::vector<uint8_t> rule;
  std::vector<trace::StringId> op;  // innermost operator; ids of `strings`
  std::vector<trace::StringId> module;
  struct Retag {
    EntryIndex at = 0;  // takes effect right before this entry
    uint32_t allocation = 0;
    trace::Category category = trace::Category::kUnknown;
    uint8_t rule = 0;
  };
  std::vector<Retag> retags;  // by `at`
  // [begin, end) in entries; end may be the number of entries. Phases lie within steps.
  struct Step {
    EntryIndex begin = 0, end = 0;
    uint32_t number = 0;
    uint8_t rule = 0;
  };
  std::vector<Step> steps;  // by begin, not overlapping
  struct PhaseRange {
    EntryIndex begin = 0, end = 0;
    trace::Phase phase = trace::Phase::kNone;
    uint8_t rule = 0;
  };
  std::vector<PhaseRange> phases;  // by begin, not overlapping
  // Further events (steps, phases, modules, retags, markers) right before the entry, in this order;
  // `at` may be the number of entries. Their time is no earlier than the event's before.
  struct Placed {
    EntryIndex at = 0;
    trace::Event event;
  };
  std::vector<Placed> placed;        // by `at`
  std::vector<std::string> strings;  // that the file does not have; ids go on from the file's
};

// What the file itself says of its blocks, over what `labels` has for all allocations: categories
// and changes of them, with rule 0. A block of which anything is said keeps no change by a rule,
// and where `labels_are_complete` no block keeps what a rule concluded.
void ApplyRecordedLabels(const Recording& recording, const History& history, Labels& labels);

// Names of the markers that stand for entries which are no event of an allocator.
inline constexpr std::string_view kMarkerSnapshot = "snapshot";
inline constexpr std::string_view kMarkerOther = "other entry";
inline constexpr std::string_view kMarkerAnnotate = "annotate";
inline constexpr std::string_view kMarkerLeftOut = "left out: ";  // and the action's name

std::string_view Name(Action action);  // "alloc", "free_requested", ... "annotate", "category"

// What events call the streams, by row of Recording::streams: as recorded where all of them fit 32
// bits, else the row.
std::vector<uint32_t> StreamNumbers(const Recording& recording);

// The whole Trace: older segments and blocks, the marker kMarkerRecordingBegin, entries with
// segments, steps and phases, annotations and extras merged by time. Begin and End are called on
// the sink; `complete` is always true, warnings go to the builder by the caller.
//
// Nothing of the entries is lost: those that are left out, kSnapshot and kOther become markers
// (with address, bytes, stream, device and stack). An annotation's thread is its device << 8 and a
// number that keeps overlapping ones apart. Streams are numbered by StreamNumbers().
void Emit(const Recording& recording, const History& history, const Labels& labels,
          trace::EventSink& sink);

}  // namespace vramscope::recording
