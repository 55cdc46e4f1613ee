#include "trainer/capture/recorder.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "trainer/capture/flat_map.h"
#include "trainer/capture/spin_lock.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;
using trace::StringId;

constexpr size_t kBatchEvents = 4096;
// What the lookup from sequence number to module may grow to before old entries are dropped. A
// step of a 100-layer model needs some 10,000.
constexpr size_t kMaxSequenceNumbers = size_t{1} << 22;
constexpr size_t kMaxAddresses = size_t{1} << 16;

std::atomic<Recorder*> g_current{nullptr};
std::atomic<uint64_t> g_serial{0};

struct OpenOp {
  StringId name;
  StringId module;
  bool emitted = false;
  bool backward = false;
  bool storage_only = false;
  uint32_t modules = 0;  // open modules when the op began
};

// What one thread has open. Autograd's device thread outlives recorders: `serial` tells whose it
// is.
struct ThreadState {
  uint64_t serial = 0;
  uint32_t index = 0;  // in order of first report to the recorder: the loop's thread is 0
  std::vector<StringId> modules;
  std::vector<OpenOp> ops;
  std::vector<Category> categories;
  std::vector<StringId> owners;
};
thread_local ThreadState t_state;

struct Live {
  uint64_t id = 0;
  uint32_t saved = 0;  // graph nodes that keep it
  Category category = Category::kUnknown;
  Category unsaved = Category::kUnknown;  // what it is again once nobody saves it
  StringId module;
};

struct LiveSegment {
  uint64_t id = 0;
  uint32_t stream = 0;
  trace::Pool pool = trace::Pool::kSmall;
};

// Ops that only ask for storage: an allocation inside them is named after the op that wanted it.
bool AsksForStorageOnly(std::string_view name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty") ||
         name == "aten::resize_";
}

uint64_t SequenceKey(uint64_t forward_thread, int64_t sequence_number) {
  return (forward_thread << 48) ^ static_cast<uint64_t>(sequence_number + 1);
}

}  // namespace

struct Recorder::Impl {
  Impl(trace::EventSink& s, Clock c, const RecorderOptions& o)
      : sink(s), clock(std::move(c)), options(o), serial(++g_serial) {
    batch.reserve(kBatchEvents);
    string_ids.emplace("", 0);
  }

  trace::EventSink& sink;
  Clock clock;
  const RecorderOptions options;
  const uint64_t serial;

  mutable SpinLock mutex;
  std::vector<Event> batch;
  uint64_t flushed_events = 0;
  int64_t last_time = 0;

  absl::flat_hash_map<std::string, uint32_t> string_ids;
  std::vector<std::string> strings = {""};  // by id
  std::vector<std::string> new_strings;
  // By address of the characters: names of operators and literals stay where they are. A hit is
  // compared, since a name on the heap may give its place to another.
  FlatMap<StringId> id_at{1 << 12};
  // (path so far, name) -> path, so that opening a module makes no string.
  FlatMap<StringId> module_paths;

  FlatMap<Live> live{1 << 14};
  FlatMap<LiveSegment> segments{256};
  uint64_t next_allocation = 0;
  uint64_t next_segment = 0;
  FlatMap<StringId> module_of_sequence{1 << 14};

  std::string failure;   // innermost place of the first exception
  Tape* tape = nullptr;  // gets what is flushed

  std::vector<Phase> phases;
  std::atomic<Phase> phase{Phase::kNone};
  uint32_t next_thread = 0;

  ThreadState& Thread() {
    ThreadState& state = t_state;
    if (state.serial != serial) {
      state.serial = serial;
      state.index = next_thread++;
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
    // The op that is just beginning may turn out to be a view, and the ops around it with it: they
    // stay, so that what is left out does not depend on where a batch ends.
    size_t n = batch.size();
    while (n > 0 && batch[n - 1].kind == EventKind::kOpBegin) --n;
    if (n == 0) return;
    const auto whole = std::span(batch).first(n);
    sink.Events(whole);
    if (tape != nullptr) {
      for (const Event& event : whole) {
        switch (event.kind) {
          case EventKind::kSegmentAlloc:
          case EventKind::kSegmentFree:
          case EventKind::kSegmentMap:
          case EventKind::kSegmentUnmap:
          case EventKind::kOutOfMemory:
            break;
          default:
            tape->events.push_back(event);
        }
      }
    }
    flushed_events += n;
    batch.erase(batch.begin(), batch.begin() + static_cast<ptrdiff_t>(n));
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
    auto it = string_ids.find(absl::string_view(text.data(), text.size()));
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
    // Inside a backward node the forward's module counts, until the node recomputes a module.
    const StringId open = thread.modules.empty() ? StringId{} : thread.modules.back();
    if (thread.ops.empty()) return open;
    const OpenOp& op = thread.ops.back();
    return thread.modules.size() > op.modules ? open : op.module;
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

  void Tag(Live& allocation, Category category, StringId why) {
    if (allocation.category == category) return;
    allocation.category = category;
    Event& event = Push(EventKind::kRetag);
    event.id = allocation.id;
    event.category = category;
    event.name = why;
  }
};

Recorder::Recorder(trace::EventSink& sink, Clock clock, const RecorderOptions& options)
    : impl_(std::make_unique<Impl>(sink, std::move(clock), options)) {
  g_current = this;
}

Recorder::~Recorder() {
  Recorder* self = this;
  g_current.compare_exchange_strong(self, nullptr);
  Flush();
}

Recorder* Recorder::Current() { return g_current.load(std::memory_order_acquire); }
uint64_t Recorder::serial() const { return impl_->serial; }

void Recorder::OnAlloc(uint64_t key, uint64_t bytes, uint64_t bytes_rounded, uint64_t address,
                       uint32_t stream, trace::Pool pool) {
  std::lock_guard lock(impl_->mutex);
  const ThreadState& thread = impl_->Thread();
  Live allocation;
  allocation.id = impl_->next_allocation++;
  allocation.category = allocation.unsaved = impl_->BirthCategory(thread);
  allocation.module = thread.owners.empty() ? impl_->Module(thread) : thread.owners.back();
  impl_->live.Insert(key, allocation);
  Event& event = impl_->Push(EventKind::kAlloc);
  event.id = allocation.id;
  event.category = allocation.category;
  event.bytes = bytes;
  event.bytes_rounded = bytes_rounded;
  event.address = address;
  event.stream = stream;
  event.pool = pool;
  event.thread = thread.index;
  event.name = impl_->OpName(thread);
  event.module = allocation.module;
}

void Recorder::OnFree(uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  const Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr) return;
  const uint64_t id = allocation->id;
  impl_->live.Erase(key);
  const uint32_t thread = impl_->Thread().index;
  for (EventKind kind : {EventKind::kFreeRequested, EventKind::kFreeCompleted}) {
    Event& event = impl_->Push(kind);
    event.id = id;
    event.thread = thread;
  }
}

void Recorder::OnSegmentAlloc(uint64_t address, uint64_t bytes, uint32_t stream, trace::Pool pool,
                              bool expandable) {
  std::lock_guard lock(impl_->mutex);
  const uint64_t id = impl_->next_segment++;
  impl_->segments.Insert(address, {.id = id, .stream = stream, .pool = pool});
  Event& event = impl_->Push(EventKind::kSegmentAlloc);
  event.id = id;
  event.address = address;
  event.bytes = bytes;
  event.stream = stream;
  event.pool = pool;
  event.detail = expandable ? 1 : 0;
}

void Recorder::OnSegmentMap(uint64_t segment, uint64_t address, uint64_t bytes) {
  impl_->PushPages(EventKind::kSegmentMap, segment, address, bytes);
}

void Recorder::OnSegmentUnmap(uint64_t segment, uint64_t address, uint64_t bytes) {
  impl_->PushPages(EventKind::kSegmentUnmap, segment, address, bytes);
}

void Recorder::OnSegmentFree(uint64_t address) {
  std::lock_guard lock(impl_->mutex);
  const LiveSegment* found = impl_->segments.Find(address);
  if (found == nullptr) return;
  const uint64_t id = found->id;
  impl_->segments.Erase(address);
  impl_->Push(EventKind::kSegmentFree).id = id;
}

void Recorder::OnOutOfMemory(uint64_t bytes, uint64_t device_free, const Event* like) {
  std::lock_guard lock(impl_->mutex);
  const ThreadState& thread = impl_->Thread();
  Event& event = impl_->Push(EventKind::kOutOfMemory);
  event.bytes = bytes;
  event.bytes_rounded = device_free;
  if (like != nullptr) {
    event.thread = like->thread;
    event.name = like->name;
    event.module = like->module;
    return;
  }
  event.thread = thread.index;
  event.name = impl_->OpName(thread);
  event.module = impl_->Module(thread);
}

void Recorder::PushCategory(Category category) {
  std::lock_guard lock(impl_->mutex);
  impl_->Thread().categories.push_back(category);
}

void Recorder::PopCategory() {
  std::lock_guard lock(impl_->mutex);
  auto& categories = impl_->Thread().categories;
  if (!categories.empty()) categories.pop_back();
}

void Recorder::PushOwner(std::string_view path) {
  std::lock_guard lock(impl_->mutex);
  const StringId id = impl_->Intern(path);
  impl_->Thread().owners.push_back(id);
}

void Recorder::PushOwnerOf(uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  const Live* allocation = impl_->live.Find(key);
  ThreadState& thread = impl_->Thread();
  thread.owners.push_back(allocation == nullptr ? impl_->Module(thread) : allocation->module);
}

void Recorder::PopOwner() {
  std::lock_guard lock(impl_->mutex);
  auto& owners = impl_->Thread().owners;
  if (!owners.empty()) owners.pop_back();
}

void Recorder::Retag(uint64_t key, Category category, std::string_view why) {
  std::lock_guard lock(impl_->mutex);
  Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr) return;
  allocation->unsaved = category;
  impl_->Tag(*allocation, category, impl_->Intern(why));
}

Category Recorder::CategoryOf(uint64_t key) const {
  std::lock_guard lock(impl_->mutex);
  const Live* allocation = impl_->live.Find(key);
  return allocation == nullptr ? Category::kUnknown : allocation->category;
}

void Recorder::OnSaved(uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr || allocation->saved++ > 0) return;
  // A parameter or an input stays one; what would have died is now held for backward.
  const Category now = allocation->category;
  if (now == Category::kTemporary || now == Category::kAutogradDetail) {
    impl_->Tag(*allocation, Category::kActivation, impl_->Intern("saved for backward"));
  }
}

void Recorder::OnSavedReleased(uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr || allocation->saved == 0 || --allocation->saved > 0) return;
  if (allocation->category == Category::kActivation) {
    impl_->Tag(*allocation, allocation->unsaved, impl_->Intern("released by backward"));
  }
}

void Recorder::BeginStep(int step) {
  std::lock_guard lock(impl_->mutex);
  if (impl_->module_of_sequence.size() > kMaxSequenceNumbers) impl_->module_of_sequence.Clear();
  impl_->Push(EventKind::kStepBegin).id = static_cast<uint64_t>(step);
}

void Recorder::EndStep() {
  std::lock_guard lock(impl_->mutex);
  impl_->Push(EventKind::kStepEnd);
}

void Recorder::BeginMicroBatch(int index) {
  std::lock_guard lock(impl_->mutex);
  impl_->Push(EventKind::kMicroBatchBegin).id = static_cast<uint64_t>(index);
}

void Recorder::EndMicroBatch() {
  std::lock_guard lock(impl_->mutex);
  impl_->Push(EventKind::kMicroBatchEnd);
}

void Recorder::BeginPhase(Phase phase) {
  std::lock_guard lock(impl_->mutex);
  impl_->phases.push_back(phase);
  impl_->phase = phase;
  impl_->Push(EventKind::kPhaseBegin).detail = static_cast<uint8_t>(phase);
}

void Recorder::EndPhase() {
  std::lock_guard lock(impl_->mutex);
  if (impl_->phases.empty()) return;
  impl_->Push(EventKind::kPhaseEnd).detail = static_cast<uint8_t>(impl_->phases.back());
  impl_->phases.pop_back();
  impl_->phase = impl_->phases.empty() ? Phase::kNone : impl_->phases.back();
}

Phase Recorder::phase() const { return impl_->phase.load(std::memory_order_relaxed); }

void Recorder::BeginModule(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  ThreadState& thread = impl_->Thread();
  const StringId path = impl_->ModulePath(impl_->Module(thread), name);
  thread.modules.push_back(path);
  Event& event = impl_->Push(EventKind::kModuleBegin);
  event.name = path;
  event.thread = thread.index;
}

void Recorder::EndModule() {
  std::lock_guard lock(impl_->mutex);
  ThreadState& thread = impl_->Thread();
  if (thread.modules.empty()) return;
  if (std::uncaught_exceptions() > 0) impl_->NoteFailure(StringId{}, thread.modules.back());
  Event& event = impl_->Push(EventKind::kModuleEnd);
  event.name = thread.modules.back();
  event.thread = thread.index;
  thread.modules.pop_back();
}

void Recorder::BeginOp(std::string_view name, int64_t sequence_number, bool backward,
                       uint64_t forward_thread) {
  std::lock_guard lock(impl_->mutex);
  ThreadState& thread = impl_->Thread();
  OpenOp op;
  op.name = impl_->Intern(name);
  op.storage_only = AsksForStorageOnly(name);
  op.module = impl_->Module(thread);
  op.backward = backward;
  op.modules = static_cast<uint32_t>(thread.modules.size());
  if (sequence_number >= 0) {
    const uint64_t key = SequenceKey(forward_thread, sequence_number);
    if (!backward) {
      // Composites report the number that the node of their first op will get; the last one to
      // report it is the op that makes the node.
      impl_->module_of_sequence.Insert(key, op.module);
    } else if (const StringId* module = impl_->module_of_sequence.Find(key)) {
      op.module = *module;
    }
  }
  op.emitted = impl_->options.record_ops && !op.storage_only &&
               thread.ops.size() < impl_->options.max_op_depth;
  thread.ops.push_back(op);
  if (!op.emitted) return;
  Event& event = impl_->Push(EventKind::kOpBegin);
  event.name = op.name;
  event.module = op.module;
  event.thread = thread.index;
}

void Recorder::EndOp() {
  std::lock_guard lock(impl_->mutex);
  ThreadState& thread = impl_->Thread();
  if (thread.ops.empty()) return;
  const OpenOp op = thread.ops.back();
  if (std::uncaught_exceptions() > 0) impl_->NoteFailure(op.name, op.module);
  thread.ops.pop_back();
  if (!op.emitted) return;
  // An op that took no (modelled) time and asked for nothing is a view: a slice of no width, of
  // which a step would have tens of thousands.
  std::vector<Event>& batch = impl_->batch;
  if (!batch.empty() && batch.back().kind == EventKind::kOpBegin &&
      batch.back().thread == thread.index && batch.back().time_ns == impl_->clock()) {
    batch.pop_back();
    return;
  }
  Event& event = impl_->Push(EventKind::kOpEnd);
  event.name = op.name;
  event.thread = thread.index;
}

std::string Recorder::failure() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->failure;
}

void Recorder::Marker(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  const StringId id = impl_->Intern(name);
  impl_->Push(EventKind::kMarker).name = id;
}

void Recorder::Flush() {
  std::lock_guard lock(impl_->mutex);
  impl_->FlushLocked();
}

void Recorder::BeginTape(Tape* tape) {
  std::lock_guard lock(impl_->mutex);
  impl_->FlushLocked();
  *tape = {};
  tape->first_allocation = impl_->next_allocation;
  tape->begin_ns = impl_->clock();
  impl_->tape = tape;
}

void Recorder::EndTape() {
  std::lock_guard lock(impl_->mutex);
  if (impl_->tape == nullptr) return;
  impl_->FlushLocked();
  impl_->tape->end_allocation = impl_->next_allocation;
  impl_->tape->end_ns = impl_->clock();
  impl_->tape = nullptr;
}

bool Recorder::taping() const { return impl_->tape != nullptr; }

void Recorder::TapeSorted(size_t frees) {
  std::lock_guard lock(impl_->mutex);
  if (impl_->tape == nullptr || frees == 0) return;
  impl_->FlushLocked();
  impl_->tape->sorted.push_back({impl_->tape->events.size(), frees});
}

uint64_t Recorder::IdOf(uint64_t key) const {
  std::lock_guard lock(impl_->mutex);
  const Live* allocation = impl_->live.Find(key);
  return allocation == nullptr ? ~uint64_t{0} : allocation->id;
}

void Recorder::PlayAlloc(const Event& like, uint64_t key, uint64_t bytes_rounded,
                         trace::Pool pool) {
  std::lock_guard lock(impl_->mutex);
  Live allocation;
  allocation.id = impl_->next_allocation++;
  allocation.category = allocation.unsaved = like.category;
  allocation.module = like.module;
  impl_->live.Insert(key, allocation);
  Event& event = impl_->Push(EventKind::kAlloc);
  const int64_t now = event.time_ns;
  event = like;
  event.time_ns = now;
  event.id = allocation.id;
  event.address = key;
  event.bytes_rounded = bytes_rounded;
  event.pool = pool;
}

void Recorder::PlayFree(const Event& like, uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  const Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr) return;
  const uint64_t id = allocation->id;
  impl_->live.Erase(key);
  for (EventKind kind : {EventKind::kFreeRequested, EventKind::kFreeCompleted}) {
    Event& event = impl_->Push(kind);
    event.id = id;
    event.thread = like.thread;
  }
}

void Recorder::PlayRetag(const Event& like, uint64_t key) {
  std::lock_guard lock(impl_->mutex);
  Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr) return;
  allocation->category = like.category;
  if (like.category != Category::kActivation) allocation->unsaved = like.category;
  Event& event = impl_->Push(EventKind::kRetag);
  event.id = allocation->id;
  event.category = like.category;
  event.name = like.name;
}

void Recorder::PlayOther(const Event& like) {
  std::lock_guard lock(impl_->mutex);
  Event& event = impl_->Push(like.kind);
  const int64_t now = event.time_ns;
  event = like;
  event.time_ns = now;
}

std::string Recorder::CurrentModule() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->strings[impl_->Module(impl_->Thread()).value];
}

std::string Recorder::CurrentOp() const {
  std::lock_guard lock(impl_->mutex);
  const ThreadState& thread = impl_->Thread();
  return thread.ops.empty() ? std::string() : impl_->strings[thread.ops.back().name.value];
}

uint64_t Recorder::live_allocations() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->live.size();
}

uint64_t Recorder::events() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->flushed_events + impl_->batch.size();
}

}  // namespace vramscope::trainer
