// The state of a Recorder: each thread's open ops and modules, live allocations, the current batch.
// Internal to this folder: recorder.cpp records events, recorder_tape.cpp repeats them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/activities.h"
#include "trainer/capture/flat_map.h"
#include "trainer/capture/recorder.h"
#include "trainer/capture/spin_lock.h"
#include "trainer/capture/tape.h"

namespace vramscope::trainer {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;
using trace::StringId;

inline constexpr size_t kBatchEvents = 4096;
// When the table from sequence numbers to modules exceeds this size, it is cleared. A step of a
// model with 100 layers needs about 10,000 entries.
inline constexpr size_t kMaxSequenceNumbers = size_t{1} << 22;
inline constexpr size_t kMaxAddresses = size_t{1} << 16;

struct OpenOp {
  StringId name;
  StringId module;
  bool emitted = false;
  bool backward = false;
  bool storage_only = false;
  uint32_t modules = 0;  // number of open modules when the op began
};

// The open ops and modules of one thread. `serial` says which recorder they belong to, because
// autograd's device thread outlives recorders.
struct ThreadState {
  uint64_t serial = 0;
  // The thread's number: 0 for the loop's thread, others in the order in which they first report.
  uint32_t index = 0;
  std::vector<StringId> modules;
  std::vector<OpenOp> ops;
  std::vector<Category> categories;
  std::vector<StringId> owners;
};
inline thread_local ThreadState t_state;

struct Live {
  uint64_t id = 0;
  uint32_t saved = 0;  // number of graph nodes that save the storage
  Category category = Category::kUnknown;
  Category unsaved = Category::kUnknown;  // the category when no node saves it any more
  bool asked_to_free = false;             // the free was requested but is not complete
  StringId module;
};

struct LiveSegment {
  uint64_t id = 0;
  uint32_t stream = 0;
  trace::Pool pool = trace::Pool::kSmall;
};

// Returns whether the op only allocates storage. Its allocations are named after its
// caller.
inline bool AsksForStorageOnly(std::string_view name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty") ||
         name == "aten::resize_";
}

inline uint64_t SequenceKey(uint64_t forward_thread, int64_t sequence_number) {
  return (forward_thread << 48) ^ static_cast<uint64_t>(sequence_number + 1);
}

struct Recorder::Impl {
  Impl(trace::EventSink& s, Clock c, const RecorderOptions& o, uint64_t number)
      : sink(s), clock(std::move(c)), options(o), serial(number) {
    batch.reserve(kBatchEvents);
    string_ids.emplace("", 0);
  }

  trace::EventSink& sink;
  Clock clock;
  const RecorderOptions options;
  const uint64_t serial;

  mutable SpinLock mutex;
  std::vector<Event> batch;
  std::vector<trace::Activity> activities;
  uint64_t correlations = 0;
  uint64_t flushed_events = 0;
  int64_t last_time = 0;

  base::HashMap<std::string, uint32_t> string_ids;
  std::vector<std::string> strings = {""};  // indexed by id
  std::vector<std::string> new_strings;
  // The key is the address of the characters: names of operators and literals do not move. Each hit
  // is verified, because another name on the heap may later be at the same address.
  FlatMap<StringId> id_at{1 << 12};
  // Maps (path so far, name) to a path, so that opening a module does not build a string.
  FlatMap<StringId> module_paths;

  FlatMap<Live> live{1 << 14};
  FlatMap<LiveSegment> segments{256};
  uint64_t next_allocation = 0;
  uint64_t next_segment = 0;
  FlatMap<StringId> module_of_sequence{1 << 14};

  std::string failure;                // the innermost place of the first exception
  std::atomic<Tape*> tape = nullptr;  // receives the flushed events
  size_t placed_works = 0;  // number of works whose `first` already is an index into the tape

  std::vector<Phase> phases;
  std::atomic<Phase> phase{Phase::kNone};
  uint32_t next_thread = 0;
  base::HashMap<uint32_t, uint32_t> thread_of_system;  // gettid() -> index

  uint32_t ThreadOfSystem(uint32_t number) {
    const auto [known, added] = thread_of_system.try_emplace(number, next_thread);
    if (added) ++next_thread;
    return known->second;
  }

  ThreadState& Thread() {
    ThreadState& state = t_state;
    if (state.serial != serial) {
      state.serial = serial;
      state.index = ThreadOfSystem(static_cast<uint32_t>(gettid()));
      state.modules.clear();
      state.ops.clear();
      state.categories.clear();
      state.owners.clear();
    }
    return state;
  }

  Event& Push(EventKind kind) {
    if (batch.size() >= kBatchEvents) FlushLocked();
    last_time = std::max(last_time, clock());
    Event& event = batch.emplace_back();
    event.kind = kind;
    event.time_ns = last_time;
    return event;
  }

  void PushPages(EventKind kind, uint64_t segment, uint64_t address, uint64_t bytes) {
    std::lock_guard lock(mutex);
    const LiveSegment* found = segments.Find(segment);
    if (found == nullptr) return;
    Event& event = Push(kind);
    event.id = found->id;
    event.address = address;
    event.bytes = bytes;
    event.stream = found->stream;
    event.pool = found->pool;
  }

  void FlushLocked() {
    if (!new_strings.empty()) {
      sink.Strings(static_cast<uint32_t>(strings.size() - new_strings.size()), new_strings);
      new_strings.clear();
    }
    if (!activities.empty()) {
      sink.Activities(activities);
      activities.clear();
    }
    // The last ops may turn out to be views, which are left out. So their begin events stay in the
    // batch. Otherwise, it would matter where a batch ends.
    size_t n = batch.size();
    while (n > 0 && batch[n - 1].kind == EventKind::kOpBegin) --n;
    if (n == 0) return;
    const auto whole = std::span(batch).first(n);
    sink.Events(whole);
    if (Tape* kept = tape) Keep(*kept, whole);
    flushed_events += n;
    batch.erase(batch.begin(), batch.begin() + static_cast<ptrdiff_t>(n));
  }

  // Leaves out segment events: when the tape is played, the allocator reports new ones.
  void Keep(Tape& to, std::span<const Event> events) {
    for (size_t i = 0; i < events.size(); ++i) {
      PlaceWorks(to, flushed_events + i);
      switch (events[i].kind) {
        case EventKind::kSegmentAlloc:
        case EventKind::kSegmentFree:
        case EventKind::kSegmentMap:
        case EventKind::kSegmentUnmap:
        case EventKind::kOutOfMemory:
          break;
        default:
          to.events.push_back(events[i]);
      }
    }
  }
  void PlaceWorks(Tape& to, uint64_t before_event) {
    for (; placed_works < to.works.size() && to.works[placed_works].first <= before_event;
         ++placed_works) {
      to.works[placed_works].first = to.events.size();
    }
  }

  StringId Intern(std::string_view text) {
    if (text.empty()) return {};
    const uint64_t at = reinterpret_cast<uintptr_t>(text.data());
    if (const StringId* known = id_at.Find(at); known != nullptr && strings[known->value] == text)
      return *known;
    const StringId id = InternByText(text);
    if (id_at.size() > kMaxAddresses) id_at.Clear();
    return id_at.Insert(at, id);
  }

  StringId InternByText(std::string_view text) {
    auto it = string_ids.find(text);
    if (it != string_ids.end()) return {it->second};
    const auto id = static_cast<uint32_t>(strings.size());
    strings.emplace_back(text);
    new_strings.emplace_back(text);
    string_ids.emplace(std::string(text), id);
    return {id};
  }

  StringId ModulePath(StringId parent, std::string_view name) {
    const StringId part = Intern(name);
    if (parent.value == 0) return part;
    const uint64_t key = (uint64_t{parent.value} << 32) | part.value;
    if (const StringId* path = module_paths.Find(key)) return *path;
    std::string text = strings[parent.value];
    text.append(".").append(name);
    return module_paths.Insert(key, Intern(text));
  }

  StringId Module(const ThreadState& thread) const {
    // In a backward node, this is the module of the forward op, unless the node recomputes a
    // module.
    const StringId open = thread.modules.empty() ? StringId{} : thread.modules.back();
    if (thread.ops.empty()) return open;
    const OpenOp& op = thread.ops.back();
    return thread.modules.size() > op.modules ? open : op.module;
  }

  // Returns the path to which a newly opened module is appended. The path is empty if a backward
  // node recomputes forward: there, the name of the outermost module is its whole path.
  StringId ModuleAround(const ThreadState& thread) const {
    for (size_t i = thread.ops.size(); i-- > 0;) {
      if (!thread.ops[i].backward) continue;
      if (thread.modules.size() <= thread.ops[i].modules) return {};
      break;
    }
    return Module(thread);
  }

  // The owner of new allocations.
  StringId Owner(const ThreadState& thread) const {
    return thread.owners.empty() ? Module(thread) : thread.owners.back();
  }

  StringId OpName(const ThreadState& thread) const {
    for (size_t i = thread.ops.size(); i-- > 0;) {
      if (!thread.ops[i].storage_only || i == 0) return thread.ops[i].name;
    }
    return {};
  }

  Category BirthCategory(const ThreadState& thread) const {
    if (!thread.categories.empty()) return thread.categories.back();
    switch (phase.load(std::memory_order_relaxed)) {
      case Phase::kSetup:
      case Phase::kLoad:
        return Category::kUnknown;
      case Phase::kData:
        return Category::kInput;
      default:
        break;
    }
    for (size_t i = thread.ops.size(); i-- > 0;) {
      if (!thread.ops[i].backward) continue;
      return thread.modules.size() > thread.ops[i].modules ? Category::kTemporary
                                                           : Category::kAutogradDetail;
    }
    return Category::kTemporary;
  }

  void NoteFailure(StringId op, StringId module) {
    if (!failure.empty()) return;
    if (op.value != 0) failure = "op " + strings[op.value];
    if (module.value != 0) {
      failure.append(failure.empty() ? "module " : ", module ").append(strings[module.value]);
    }
  }

  // Records the call and then the device's work. If a call causes several pieces of work, it is
  // only recorded with the first (`first`).
  void PushWork(trace::Activity call, trace::Activity what, bool first = true) {
    if (activities.size() >= kBatchEvents) FlushLocked();
    call.correlation = what.correlation = first ? ++correlations : correlations;
    call.op = what.op;
    call.module = what.module;
    call.thread = what.thread;
    if (trace::IsOfDevice(what.kind)) what.thread = 0;
    if (first) activities.push_back(call);
    activities.push_back(what);
  }

  void Tag(Live& allocation, Category category, StringId why) {
    if (allocation.category == category) return;
    allocation.category = category;
    Event& event = Push(EventKind::kRetag);
    event.id = allocation.id;
    event.category = category;
    event.name = why;
  }
};

}  // namespace vramscope::trainer
