#include "emulated/libraries/cupti_tracer.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "emulated/core/platform.h"

namespace vramscope::emulated::cupti {
namespace {

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

thread_local uint32_t t_launch = 0;  // correlation of the graph launch that this thread reports
// The correlation of the last call with which this thread made memory accessible. The call may
// cover several allocations.
thread_local uint32_t t_access = 0;

}  // namespace

Tracer& TheTracer() {
  static auto* tracer = new Tracer;
  return *tracer;
}

std::map<uint32_t, std::vector<uint64_t>>& ExternalIds() {
  thread_local std::map<uint32_t, std::vector<uint64_t>> ids;
  return ids;
}

void Tracer::OnWork(const Activity& activity) {
  Lock lock(mutex_);
  const uint32_t kind = activity.kind == ActivityKind::kCopy   ? kMemcpy
                        : activity.kind == ActivityKind::kFill ? kMemset
                                                               : kConcurrentKernel;
  if (enabled_.empty()) return;
  const int64_t now = virtual_ ? 0 : Now();
  Event call = virtual_ ? NewCall(activity.call, activity.call_begin_ns, activity.call_end_ns)
                        : NewCall(activity.call, now - 500, now);
  call.activity = activity;
  if (activity.first) {
    t_launch = call.correlation;
    Called(lock, call);
  } else {
    call.correlation = t_launch;
  }
  Event work = call;
  work.kind = kind;
  if (virtual_) {
    work.start = activity.start_ns;
    work.end = activity.end_ns;
  } else {
    // Work starts after the stream's previous work and after its waits for other streams.
    Stream& stream = streams_[activity.stream];
    const int64_t idle = std::max<int64_t>(
        activity.start_ns - std::max(stream.virtual_end, ThePlatform().clock.now()), 0);
    work.start = std::max(now + 2'000, stream.busy) + idle;
    work.end = work.start + std::max<int64_t>(activity.end_ns - activity.start_ns, 1);
    stream.busy = work.end;
    stream.device = activity.device;
    stream.virtual_end = activity.end_ns;
  }
  if (On(kind)) Add(lock, work);
  // The operands are valid only during this call.
  if (!On(kOperands) || !virtual_ || !request_) return;
  work.kind = kOperands;
  for (; work.value < activity.operand_count; work.value += OperandsRecord::kMost) Add(lock, work);
}

void Tracer::OnMemory(const MemoryActivity& memory) {
  // Calls `sites` before locking mutex_. `sites` may wait for the interpreter's lock, and the
  // thread that holds the interpreter's lock may be waiting for mutex_.
  const CallSite sites = CallSites();
  const bool of_host = memory.allocated && memory.place != Place::kDevice;
  const char* const site = of_host && sites != nullptr ? sites() : nullptr;
  Lock lock(mutex_);
  if (enabled_.empty()) return;
  const int64_t now = virtual_ ? 0 : Now();
  Event event = virtual_ ? NewCall(memory.call, memory.begin_ns, memory.end_ns)
                         : NewCall(memory.call, now - 500, now);
  event.activity.device = memory.device;
  event.activity.to = memory.place;
  event.activity.bytes = memory.bytes;
  event.address = memory.address;
  event.caller = reinterpret_cast<uint64_t>(memory.caller);
  event.allocated = memory.allocated;
  event.site = virtual_ ? site : nullptr;
  if (memory.allocated) {
    sizes_[memory.address] = memory.bytes;
  } else if (const auto it = sizes_.find(memory.address); it != sizes_.end()) {
    event.activity.bytes = it->second;
    sizes_.erase(it);
  }
  if (memory.first) {
    t_access = event.correlation;
    Called(lock, event);
  } else {
    event.correlation = t_access;
  }
  if (!On(kMemory2)) return;
  event.kind = kMemory2;
  Add(lock, event);
}

// With the real clock, the host really waits. Otherwise records would end after the profiler has
// stopped, and the profiler would drop these records.
void Tracer::OnSynchronize(const Synchronization& synchronization) {
  constexpr int64_t kLongest = 20'000'000'000;
  Lock lock(mutex_);
  if (enabled_.empty()) return;
  int64_t start = synchronization.begin_ns, end = synchronization.end_ns;
  if (!virtual_) {
    start = Now();
    int64_t until = start;
    for (const auto& [id, facts] : streams_)
      if (facts.device == synchronization.device &&
          (synchronization.stream == 0 || synchronization.stream == id))
        until = std::max(until, facts.busy);
    until = std::min(until, start + kLongest);
    lock.unlock();
    for (end = Now(); end < until; end = Now())
      usleep(static_cast<useconds_t>((until - end) / 1000 + 1));
    lock.lock();
  }
  Event call = NewCall(synchronization.call, start, end);
  call.activity.device = synchronization.device;
  call.activity.stream = synchronization.stream;
  Called(lock, call);
  if (!On(kSynchronization)) return;
  call.kind = kSynchronization;
  Add(lock, call);
}

void Tracer::Enable(uint32_t kind, bool on) {
  Lock lock(mutex_);
  on ? (void)enabled_.insert(kind) : (void)enabled_.erase(kind);
  if (!on) return;
  SetRecorder(this);
  if (kind != kEnvironment) return;
  for (size_t device = 0; device < ThePlatform().gpus.size(); ++device) {
    Event event;
    event.kind = kEnvironment;
    event.start = virtual_ ? std::max<int64_t>(ThePlatform().clock.now(), 1) : Now();
    event.activity.device = static_cast<int>(device);
    event.value = static_cast<uint32_t>(ThePlatform().gpus[device].boost_mhz);
    Add(lock, event);
  }
}

void Tracer::SetCallbacks(RequestFunction request, CompleteFunction complete) {
  Lock lock(mutex_);
  request_ = request;
  complete_ = complete;
}

void Tracer::SetClock(ClockFunction clock) {
  Lock lock(mutex_);
  clock_ = clock;
  virtual_ = clock == &vramscope_emulated_now_ns;
  if (clock && !virtual_) Sample(&clock_host_, &clock_program_);
}

void Tracer::SetTraced(uint32_t callback, bool on) {
  Lock lock(mutex_);
  on ? (void)not_traced_.erase(callback) : (void)not_traced_.insert(callback);
}

void Tracer::SetSystemThreads(bool on) {
  Lock lock(mutex_);
  system_threads_ = on;
}

bool Tracer::Flush() {
  Lock lock(mutex_);
  if (!request_) return false;
  const int64_t begin = virtual_ ? ThePlatform().clock.now() : Now();
  const bool any = !events_.empty() || count_ > 0;
  Deliver(lock);
  if (any && On(kOverhead)) {
    Event flush = NewCall(Call::kLaunchKernel, begin, virtual_ ? begin : Now());
    flush.kind = kOverhead;
    events_.push_back(flush);
    Deliver(lock);
  }
  Hand(lock);
  return true;
}

uint64_t Tracer::Timestamp() {
  Lock lock(mutex_);
  return clock_ ? clock_() : static_cast<uint64_t>(Now());
}

size_t Tracer::TakeDropped() {
  Lock lock(mutex_);
  return std::exchange(dropped_, 0);
}

bool Tracer::Subscribe() {
  Lock lock(mutex_);
  return !std::exchange(subscribed_, true);
}

void Tracer::Unsubscribe() {
  Lock lock(mutex_);
  subscribed_ = false;
}

Event Tracer::NewCall(Call call, int64_t start, int64_t end) {
  thread_local const auto thread = static_cast<uint32_t>(gettid());
  const CallFacts& facts = FactsOf(call);
  Event event;
  event.kind = facts.kind;
  event.callback = facts.callback;
  event.correlation = ++correlation_;
  event.start = start;
  // The virtual clock starts at 0, but a begin and an end of 0 mean that CUPTI could not measure
  // them.
  event.end = virtual_ ? std::max<int64_t>(end, 1) : end;
  event.thread =
      system_threads_ ? thread : static_cast<uint32_t>(pthread_self());  // CUPTI's default
  return event;
}

void Tracer::Called(Lock& lock, const Event& call) {
  if (On(kExternalCorrelation))
    for (const auto& [kind, ids] : ExternalIds())
      if (!ids.empty()) {
        Event external = call;
        external.kind = kExternalCorrelation;
        external.external_kind = kind;
        external.external = ids.back();
        Add(lock, external);
      }
  if (!On(call.kind) || (call.kind == kRuntime && not_traced_.contains(call.callback))) return;
  Add(lock, call);
}

void Tracer::Add(Lock& lock, const Event& event) {
  constexpr size_t kMostWaiting = 1 << 16;
  if (virtual_ && request_) return Deliver(lock, event, {});
  events_.push_back(event);
  Ask(lock);  // programs flush only if a buffer was requested
  if (events_.size() >= kMostWaiting) Deliver(lock);
}

void Tracer::Sample(int64_t* host, uint64_t* program) const {
  int64_t best = INT64_MAX;  // the fastest of several tries
  for (int i = 0; i < 8; ++i) {
    const int64_t before = Now();
    const uint64_t ticks = clock_();
    const int64_t took = Now() - before;
    if (took < best) best = took, *host = before + took / 2, *program = ticks;
  }
}

Scale Tracer::TheScale() const {
  if (!clock_ || virtual_) return {};
  Scale scale{.host = clock_host_, .program = clock_program_};
  int64_t host = 0;
  uint64_t program = 0;
  do Sample(&host, &program);
  while (host - clock_host_ < 5'000'000);  // far enough apart to compute a rate
  scale.rate =
      static_cast<double>(program - clock_program_) / static_cast<double>(host - clock_host_);
  return scale;
}

void Tracer::Ask(Lock& lock) {
  while (!buffer_ && request_) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    const RequestFunction request = request_;
    lock.unlock();
    request(&buffer, &size, &most);
    lock.lock();
    if (!buffer_) {
      buffer_ = buffer, size_ = size, most_ = most, used_ = count_ = 0;
      return;
    }
    // Meanwhile, another thread has got a buffer, so this buffer is returned to the program.
    const CompleteFunction complete = complete_;
    lock.unlock();
    if (complete && buffer) complete(nullptr, 0, buffer, size, 0);
    lock.lock();
  }
}

void Tracer::Hand(Lock& lock) {
  if (!buffer_ || !complete_) return;
  uint8_t* buffer = std::exchange(buffer_, nullptr);
  const CompleteFunction complete = complete_;
  const size_t size = size_, used = used_;
  count_ = 0;
  lock.unlock();
  complete(nullptr, 0, buffer, size, used);
  lock.lock();
}

void Tracer::Deliver(Lock& lock) {
  if (!request_ || events_.empty()) return;
  const Scale scale = TheScale();
  const std::vector<Event> events = std::exchange(events_, {});
  for (const Event& event : events) Deliver(lock, event, scale);
}

void Tracer::Deliver(Lock& lock, const Event& event, const Scale& scale) {
  const size_t size = SizeOf(event.kind);
  if (buffer_ && used_ + size > size_) Hand(lock);
  Ask(lock);
  if (!buffer_ || used_ + size > size_) {
    ++dropped_;
    return;
  }
  Format(event, scale, buffer_ + used_);
  used_ += size;
  if (++count_ == most_) Hand(lock);
}

}  // namespace vramscope::emulated::cupti
