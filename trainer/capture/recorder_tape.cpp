// A stretch of events kept, and reported again (tape.h).
#include <mutex>

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

void Recorder::OnWork(int move, int64_t duration_ns) {
  if (impl_->tape.load(std::memory_order_relaxed) == nullptr) return;
  std::lock_guard lock(impl_->mutex);
  if (Tape* tape = impl_->tape) {
    tape->works.push_back({impl_->flushed_events + impl_->batch.size(), move, duration_ns});
  }
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
