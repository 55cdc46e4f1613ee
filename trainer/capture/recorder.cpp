#include "trainer/capture/recorder.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "trainer/capture/free_request.h"
#include "trainer/capture/recorder_impl.h"

namespace vramscope::trainer {
namespace {

std::atomic<Recorder*> g_current{nullptr};
std::atomic<uint64_t> g_serial{0};

}  // namespace

Recorder::Recorder(trace::EventSink& sink, Clock clock, const RecorderOptions& options)
    : impl_(std::make_unique<Impl>(sink, std::move(clock), options, ++g_serial)) {
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
  allocation.module = impl_->Owner(thread);
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
  Live* allocation = impl_->live.Find(key);
  if (allocation == nullptr) return;
  const uint64_t id = allocation->id;
  const uint32_t thread = impl_->Thread().index;
  const auto push = [&](EventKind kind) {
    Event& event = impl_->Push(kind);
    event.id = id;
    event.thread = thread;
  };
  const bool only_asks = FreeRequestScope::open();
  // While a tape is recorded, both steps of a free are recorded when it completes.
  if (only_asks && impl_->tape.load() != nullptr) return;
  if (!std::exchange(allocation->asked_to_free, true)) push(EventKind::kFreeRequested);
  if (only_asks) return;
  impl_->live.Erase(key);
  push(EventKind::kFreeCompleted);
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

void Recorder::OnActivities(std::span<const trace::Activity> activities) {
  std::lock_guard lock(impl_->mutex);
  for (trace::Activity activity : activities) {
    if (impl_->activities.size() >= kBatchEvents) impl_->FlushLocked();
    if (!trace::IsOfDevice(activity.kind) && activity.thread != 0)
      activity.thread = impl_->ThreadOfSystem(activity.thread);
    impl_->activities.push_back(activity);
  }
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
  // A parameter or an input keeps its category. A tensor that would otherwise be freed soon becomes
  // an activation.
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
  const StringId path = impl_->ModulePath(impl_->ModuleAround(thread), name);
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

void Recorder::BeginAnnotation(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  const uint32_t thread = impl_->Thread().index;
  const StringId text = impl_->Intern(name);
  Event& event = impl_->Push(EventKind::kAnnotationBegin);
  event.name = text;
  event.thread = thread;
}

void Recorder::EndAnnotation() {
  std::lock_guard lock(impl_->mutex);
  const uint32_t thread = impl_->Thread().index;
  impl_->Push(EventKind::kAnnotationEnd).thread = thread;
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
      // A composite op reports the same number as the first op in it, and it is this inner op that
      // creates the node. So the last op to report a number wins.
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
  // If an op took no (modelled) time and caused no event, it is a view. Leaves views out, because a
  // step would have tens of thousands of empty slices.
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
