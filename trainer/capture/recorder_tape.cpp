// Records the events of a micro-batch and repeats them (tape.h).
#include <mutex>

#include "trainer/capture/device_work.h"
#include "trainer/capture/recorder.h"
#include "trainer/capture/recorder_impl.h"

namespace vramscope::trainer {

void Recorder::BeginTape(Tape* tape) {
  std::lock_guard lock(impl_->mutex);
  impl_->FlushLocked();
  *tape = {};
  tape->first_allocation = impl_->next_allocation;
  impl_->placed_works = 0;
  impl_->tape = tape;
}

void Recorder::EndTape() {
  std::lock_guard lock(impl_->mutex);
  Tape* tape = impl_->tape;
  if (tape == nullptr) return;
  impl_->FlushLocked();
  impl_->PlaceWorks(*tape, ~uint64_t{0});
  tape->end_allocation = impl_->next_allocation;
  impl_->tape = nullptr;
}

void Recorder::TapeSorted(size_t frees) {
  std::lock_guard lock(impl_->mutex);
  Tape* tape = impl_->tape;
  if (tape == nullptr || frees == 0) return;
  impl_->FlushLocked();
  tape->sorted.push_back({tape->events.size(), frees});
}

void Recorder::OnMove(int move, int64_t duration_ns) {
  if (impl_->tape.load(std::memory_order_relaxed) == nullptr) return;
  std::lock_guard lock(impl_->mutex);
  if (Tape* tape = impl_->tape) {
    TapeWork& work = tape->works.emplace_back();
    work.first = impl_->flushed_events + impl_->batch.size();
    work.move = move;
    work.duration_ns = duration_ns;
  }
}

void Recorder::OnDeviceWork(const DeviceWork& work, const Event* like) {
  std::lock_guard lock(impl_->mutex);
  trace::Activity what = work.what;
  const bool of_memory = what.kind == trace::ActivityKind::kDriverAlloc ||
                         what.kind == trace::ActivityKind::kDriverFree;
  if (like != nullptr) {
    what.thread = like->thread;
    what.op = like->name;
    what.module = like->module;
  } else {
    const ThreadState& thread = impl_->Thread();
    what.thread = thread.index;
    what.op = impl_->OpName(thread);
    what.module = of_memory ? impl_->Owner(thread) : impl_->Module(thread);
  }
  what.name = impl_->Intern(work.name);
  const trace::Activity call{.kind = work.call,
                             .name = impl_->Intern(work.call_name),
                             .begin_ns = work.call_begin_ns,
                             .end_ns = work.call_end_ns};
  if (Tape* tape = impl_->tape; tape != nullptr && work.moved && !tape->works.empty()) {
    TapeWork& last = tape->works.back();
    last.reported = true;
    last.waits = work.waits;
    last.what = what;
    last.call = call;
  }
  impl_->PushWork(call, what, work.first);
}

void Recorder::PlayDeviceWork(const TapeWork& like, const DeviceWorkTimes& times) {
  std::lock_guard lock(impl_->mutex);
  trace::Activity what = like.what, call = like.call;
  what.begin_ns = times.begin_ns;
  what.end_ns = times.end_ns;
  call.begin_ns = times.call_begin_ns;
  call.end_ns = times.call_end_ns;
  impl_->PushWork(call, what);
}

StringId Recorder::Intern(std::string_view text) {
  std::lock_guard lock(impl_->mutex);
  return text.empty() ? StringId{} : impl_->InternByText(text);
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

}  // namespace vramscope::trainer
