#include "emulated/core/streams.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "emulated/core/host_work.h"
#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

constexpr unsigned kNonBlocking = 1;

bool IsDefault(void* stream) { return reinterpret_cast<uint64_t>(stream) <= 2; }

}  // namespace

Streams::Streams(Clock* clock, int devices) : clock_(clock) {
  for (int i = 0; i < devices; ++i) {
    defaults_.emplace_back().facts = {i, 0, 0, static_cast<uint64_t>(i) + 1};
  }
  next_stream_ = devices + 1;
}

Streams::Stream* Streams::Find(void* stream) const {
  if (IsDefault(stream)) {
    const int device = CurrentDevice();
    return device < static_cast<int>(defaults_.size()) ? &defaults_[device] : nullptr;
  }
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : it->second.get();
}

Streams::Event* Streams::FindEvent(void* event) const {
  const auto it = events_.find(event);
  return it == events_.end() ? nullptr : it->second.get();
}

Result Streams::Create(int device, unsigned flags, int priority, void** stream) {
  std::lock_guard lock(mutex_);
  if (device < 0 || device >= static_cast<int>(defaults_.size())) {
    return Result::kInvalidDevice;
  }
  const uint64_t id = next_stream_++;
  void* handle = reinterpret_cast<void*>(kFirstStream + id * kApart);
  auto made = std::make_unique<Stream>();
  made->facts = {device, priority, flags, id};
  streams_[handle] = std::move(made);
  blocking_ += (flags & kNonBlocking) == 0;
  *stream = handle;
  return Result::kSuccess;
}

Result Streams::Destroy(void* stream) {
  std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end()) {
    return Result::kInvalidHandle;
  }
  blocking_ -= (it->second->facts.flags & kNonBlocking) == 0;
  streams_.erase(it);
  return Result::kSuccess;
}

Result Streams::FactsOf(void* stream, StreamFacts* facts) const {
  std::lock_guard lock(mutex_);
  const Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  *facts = found->facts;
  return Result::kSuccess;
}

int64_t Streams::Start(const Stream& stream) const {
  int64_t start = std::max(stream.ready, clock_->now());
  // The default stream and blocking streams wait for each other.
  if ((stream.facts.flags & kNonBlocking) == 0) {
    start = std::max(start, defaults_[stream.facts.device].ready);
    if (blocking_ > 0 && &stream == &defaults_[stream.facts.device]) {
      for (const auto& [handle, other] : streams_) {
        if (other->facts.device == stream.facts.device &&
            (other->facts.flags & kNonBlocking) == 0) {
          start = std::max(start, other->ready);
        }
      }
    }
  }
  return start;
}

bool Streams::IsCurrentDefault(const Stream* stream) const {
  const auto device = static_cast<size_t>(CurrentDevice());
  return device < defaults_.size() && stream == &defaults_[device];
}

void Streams::SetObserver(Observer observer, void* context) {
  std::lock_guard lock(mutex_);
  observer_ = observer;
  observer_context_ = context;
}

RepeatedMove Streams::Repeat(ClockMove move, int64_t duration, bool waits) {
  std::lock_guard lock(mutex_);
  RepeatedMove made{.call_begin_ns = move == ClockMove::kWork ? clock_->Submit(0) : clock_->now()};
  Stream* stream = Find(nullptr);
  if (stream == nullptr) return made;
  const Observer observer = std::exchange(observer_, nullptr);
  Interval when;
  if (move == ClockMove::kWork) when = EnqueueLocked(stream, duration);
  if (move == ClockMove::kWait) clock_->WaitUntil(stream->ready);
  observer_ = observer;
  const int64_t now = clock_->now();
  if (move == ClockMove::kWait) when = {made.call_begin_ns, now};
  made.start_ns = when.start_ns;
  made.end_ns = when.end_ns;
  made.call_end_ns = waits ? std::max(now, when.end_ns) : now;
  return made;
}

Interval Streams::EnqueueLocked(Stream* stream, int64_t duration) {
  if (observer_ != nullptr) {
    NotifyObserver(IsCurrentDefault(stream) ? ClockMove::kWork : ClockMove::kOther, duration);
  }
  clock_->Submit(LaunchHostNs());
  stream->ends.resize(kDepth);
  int64_t& oldest = stream->ends[stream->works++ % kDepth];
  if (oldest > clock_->now()) {
    clock_->WaitUntil(oldest);
  }
  const int64_t start = Start(*stream);
  stream->ready = oldest = start + std::max<int64_t>(duration, 0);
  return {start, stream->ready};
}

Result Streams::Enqueue(void* stream, Node work, Interval* when, bool* captured) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  *captured = found->capture != nullptr;
  if (!*captured) {
    *when = EnqueueLocked(found, work.duration_ns);
    return Result::kSuccess;
  }
  return CaptureLocked(found, std::move(work));
}

Result Streams::CaptureLocked(Stream* stream, Node work) {
  if (stream->capture->invalidated) {
    return Result::kCaptureInvalidated;
  }
  const auto graph = graphs_.find(stream->capture->graph);
  if (graph == graphs_.end()) {
    return Result::kCaptureInvalidated;
  }
  clock_->Submit(LaunchHostNs());  // a captured call takes as long as a launch
  work.after = stream->last;
  void* handle = reinterpret_cast<void*>(kFirstNode + next_node_++ * kApart);
  const Node* node = graph->second->Add(std::move(work), handle);
  nodes_[handle] = node;
  stream->last = {node};
  return Result::kSuccess;
}

Result Streams::Wait(void* stream, void* event) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  const Event* waited = FindEvent(event);
  if (found == nullptr || waited == nullptr) {
    return Result::kInvalidHandle;
  }
  if (waited->capture != nullptr) {
    if (waited->capture->ended) {
      return Result::kCapturedEvent;
    }
    if (found->capture == nullptr) {  // the stream joins the capture
      found->capture = waited->capture;
      found->last.clear();
    } else if (found->capture != waited->capture) {
      return Result::kCaptureIsolation;
    }
    for (const Node* node : waited->last) {
      if (std::find(found->last.begin(), found->last.end(), node) == found->last.end()) {
        found->last.push_back(node);
      }
    }
    return Result::kSuccess;
  }
  if (found->capture != nullptr) {
    return waited->recorded ? Result::kCaptureIsolation : Result::kSuccess;
  }
  NotifyObserver(ClockMove::kOther);
  clock_->Submit(Clock::kQueryNs);
  if (waited->recorded) {
    found->ready = std::max(found->ready, waited->time);
  }
  return Result::kSuccess;
}

Result Streams::Query(void* stream) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  if (found->capture != nullptr) {
    found->capture->invalidated = true;
    return Result::kCaptureUnsupported;
  }
  if (found->ready > clock_->now()) {
    NotifyObserver(ClockMove::kOther);
    clock_->Asked(found->ready);
    return Result::kNotReady;
  }
  clock_->Answered();
  return Result::kSuccess;
}

Result Streams::Synchronize(void* stream) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  if (found->capture != nullptr) {
    found->capture->invalidated = true;
    return Result::kCaptureUnsupported;
  }
  NotifyObserver(IsCurrentDefault(found) ? ClockMove::kWait : ClockMove::kOther);
  clock_->WaitUntil(found->ready);
  return Result::kSuccess;
}

Result Streams::SynchronizeDevice(int device) {
  if (const Result result = Permitted(); result != Result::kSuccess) {
    return result;
  }
  std::lock_guard lock(mutex_);
  NotifyObserver(ClockMove::kOther);
  int64_t ready = 0;
  for (const Stream& stream : defaults_) {
    if (stream.facts.device == device) {
      ready = std::max(ready, stream.ready);
    }
  }
  for (const auto& [handle, stream] : streams_) {
    if (stream->facts.device == device) {
      ready = std::max(ready, stream->ready);
    }
  }
  clock_->WaitUntil(ready);
  return Result::kSuccess;
}

Result Streams::CreateEvent(int device, unsigned flags, void** event) {
  std::lock_guard lock(mutex_);
  void* handle = reinterpret_cast<void*>(kFirstEvent + next_event_++ * kApart);
  auto made = std::make_unique<Event>();
  made->device = device;
  made->flags = flags;
  events_[handle] = std::move(made);
  *event = handle;
  return Result::kSuccess;
}

Result Streams::DestroyEvent(void* event) {
  std::lock_guard lock(mutex_);
  return events_.erase(event) == 1 ? Result::kSuccess : Result::kInvalidHandle;
}

Result Streams::EventDevice(void* event, int* device) const {
  std::lock_guard lock(mutex_);
  const Event* found = FindEvent(event);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  *device = found->device;
  return Result::kSuccess;
}

Result Streams::Record(void* event, void* stream) {
  std::lock_guard lock(mutex_);
  Event* recorded = FindEvent(event);
  const Stream* found = Find(stream);
  if (recorded == nullptr || found == nullptr) {
    return Result::kInvalidHandle;
  }
  if (found->capture != nullptr) {
    recorded->capture = found->capture;
    recorded->last = found->last;
    recorded->recorded = true;
    return Result::kSuccess;
  }
  recorded->capture.reset();
  recorded->last.clear();
  NotifyObserver(ClockMove::kOther);
  clock_->Submit(Clock::kQueryNs);
  recorded->recorded = true;
  recorded->time = Start(*found);
  return Result::kSuccess;
}

Result Streams::QueryEvent(void* event) {
  std::lock_guard lock(mutex_);
  const Event* asked = FindEvent(event);
  if (asked == nullptr) {
    return Result::kInvalidHandle;
  }
  if (asked->capture != nullptr) {
    return Result::kCapturedEvent;
  }
  if (asked->recorded && asked->time > clock_->now()) {
    NotifyObserver(ClockMove::kOther);
    clock_->Asked(asked->time);
    return Result::kNotReady;
  }
  clock_->Answered();
  return Result::kSuccess;
}

Result Streams::SynchronizeEvent(void* event) {
  std::lock_guard lock(mutex_);
  const Event* waited = FindEvent(event);
  if (waited == nullptr) {
    return Result::kInvalidHandle;
  }
  if (waited->capture != nullptr) {
    return Result::kCapturedEvent;
  }
  if (waited->recorded) {
    NotifyObserver(ClockMove::kOther);
    clock_->WaitUntil(waited->time);
  }
  return Result::kSuccess;
}

Result Streams::Elapsed(void* first, void* second, float* milliseconds) const {
  std::lock_guard lock(mutex_);
  const Event* from = FindEvent(first);
  const Event* to = FindEvent(second);
  if (from == nullptr || to == nullptr || !from->recorded || !to->recorded) {
    return Result::kInvalidHandle;
  }
  if (from->capture != nullptr || to->capture != nullptr) {
    return Result::kCapturedEvent;
  }
  if (from->time > clock_->now() || to->time > clock_->now()) {
    return Result::kNotReady;
  }
  *milliseconds = static_cast<float>(static_cast<double>(to->time - from->time) * 1e-6);
  return Result::kSuccess;
}

void Streams::Reset() {
  std::lock_guard lock(mutex_);
  clock_->Reset();
  for (Stream& stream : defaults_) {
    stream.ready = 0;
    stream.ends.clear();
  }
  for (auto& [handle, stream] : streams_) {
    stream->ready = 0;
    stream->ends.clear();
  }
  for (auto& [handle, event] : events_) {
    event->time = 0;
  }
}

}  // namespace vramscope::emulated
