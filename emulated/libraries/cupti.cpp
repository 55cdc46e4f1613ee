// libcupti's Activity interface over the core's recorder: an unmodified profiler (PyTorch's Kineto)
// gets a record of every kernel, copy and fill, with the call that made it and the operator that
// the call was in. Durations are the virtual clock's; where a record lies in time follows the
// host's real clock, which such profilers measure operators by.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/libraries/cupti_records.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cupti {
namespace {

enum Status : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kMaxLimitReached = 12,
  kInvalidOperation = 21
};
// Numbers of the runtime's functions that records name.
enum Callback : uint32_t {
  kLaunchKernel = 211,
  kMemcpyAsync = 41,
  kMemsetAsync = 51,
  kStreamSynchronize = 131,
  kDeviceSynchronize = 165
};

using RequestFunction = void (*)(uint8_t**, size_t*, size_t*);
using CompleteFunction = void (*)(void*, uint32_t, uint8_t*, size_t, size_t);
using ClockFunction = uint64_t (*)();

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

size_t SizeOf(uint32_t kind) {
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return sizeof(KernelRecord);
    case kMemcpy:
      return sizeof(MemcpyRecord);
    case kMemset:
      return sizeof(MemsetRecord);
    case kRuntime:
      return sizeof(ApiRecord);
    case kExternalCorrelation:
      return sizeof(ExternalRecord);
    case kSynchronization:
      return sizeof(SynchronizationRecord);
    default:
      return 0;
  }
}

// Ids that the program pushed in this thread, by kind.
thread_local std::map<uint32_t, std::vector<uint64_t>> t_external;

// A record before it is written into the program's buffer, times in nanoseconds of the host.
struct Event {
  uint32_t kind = 0, correlation = 0;
  int64_t start = 0, end = 0;
  Activity activity;
  uint32_t callback = 0, thread = 0, external_kind = 0;
  uint64_t external = 0;
};

// The program's clock as a line over the host's: sampled when it was registered and when records
// are delivered.
struct Scale {
  int64_t host = 0;
  uint64_t program = 0;
  double rate = 1;
  uint64_t operator()(int64_t ns) const {
    return rate == 1 && program == 0 ? static_cast<uint64_t>(ns)
                                     : program + static_cast<uint64_t>(static_cast<int64_t>(
                                                     static_cast<double>(ns - host) * rate));
  }
};

class Tracer : public Recorder {
 public:
  void OnWork(const Activity& activity) override {
    std::unique_lock lock(mutex_);
    const uint32_t kind = activity.kind == ActivityKind::kCopy   ? kMemcpy
                          : activity.kind == ActivityKind::kFill ? kMemset
                                                                 : kConcurrentKernel;
    if (enabled_.empty()) return;
    const int64_t now = Now();
    Event call = NewCall(now - 500, now);
    call.activity = activity;
    call.callback = kind == kMemcpy ? kMemcpyAsync : kind == kMemset ? kMemsetAsync : kLaunchKernel;
    Called(lock, call);
    // Behind the stream's last work, as much later as it had to wait for other streams.
    Stream& stream = streams_[activity.stream];
    const int64_t idle = std::max<int64_t>(
        activity.start_ns - std::max(stream.virtual_end, ThePlatform().clock.now()), 0);
    Event work = call;
    work.kind = kind;
    work.start = std::max(now + 2'000, stream.busy) + idle;
    work.end = work.start + std::max<int64_t>(activity.end_ns - activity.start_ns, 1);
    stream.busy = work.end;
    stream.device = activity.device;
    stream.virtual_end = activity.end_ns;
    if (On(kind)) Add(lock, work);
  }
  void OnMemory(bool, Place, uint64_t, uint64_t, int) override {}
  // The host really waits: a profiler drops what ends after it was stopped.
  void OnSynchronize(int device, uint64_t stream) override {
    constexpr int64_t kLongest = 20'000'000'000;
    std::unique_lock lock(mutex_);
    if (enabled_.empty()) return;
    const int64_t start = Now();
    int64_t until = start;
    for (const auto& [id, facts] : streams_)
      if (facts.device == device && (stream == 0 || stream == id))
        until = std::max(until, facts.busy);
    until = std::min(until, start + kLongest);
    lock.unlock();
    for (int64_t now = Now(); now < until; now = Now())
      usleep(static_cast<useconds_t>((until - now) / 1000 + 1));
    lock.lock();
    Event call = NewCall(start, Now());
    call.activity.device = device;
    call.activity.stream = stream;
    call.callback = stream == 0 ? kDeviceSynchronize : kStreamSynchronize;
    Called(lock, call);
    if (On(kSynchronization)) {
      call.kind = kSynchronization;
      Add(lock, call);
    }
  }

  void Enable(uint32_t kind, bool on) {
    std::lock_guard lock(mutex_);
    on ? (void)enabled_.insert(kind) : (void)enabled_.erase(kind);
    if (on) SetRecorder(this);
  }
  void SetCallbacks(RequestFunction request, CompleteFunction complete) {
    std::lock_guard lock(mutex_);
    request_ = request;
    complete_ = complete;
  }
  void SetClock(ClockFunction clock) {
    std::lock_guard lock(mutex_);
    clock_ = clock;
    if (clock) Sample(&clock_host_, &clock_program_);
  }
  void SetTraced(uint32_t callback, bool on) {
    std::lock_guard lock(mutex_);
    on ? (void)not_traced_.erase(callback) : (void)not_traced_.insert(callback);
  }
  bool Flush() {
    std::unique_lock lock(mutex_);
    if (!request_) return false;
    Deliver(lock);
    Hand(lock);
    return true;
  }
  uint64_t Timestamp() {
    std::lock_guard lock(mutex_);
    return clock_ ? clock_() : static_cast<uint64_t>(Now());
  }

 private:
  struct Stream {
    int device = 0;
    int64_t busy = 0, virtual_end = 0;
  };

  Event NewCall(int64_t start, int64_t end) {
    Event call;
    call.kind = kRuntime;
    call.correlation = ++correlation_;
    call.start = start;
    call.end = end;
    call.thread = static_cast<uint32_t>(pthread_self());  // as CUPTI by default
    return call;
  }
  bool On(uint32_t kind) const {
    return enabled_.contains(kind) || (kind == kConcurrentKernel && enabled_.contains(kKernel));
  }

  void Called(std::unique_lock<std::mutex>& lock, const Event& call) {
    if (On(kExternalCorrelation))
      for (const auto& [kind, ids] : t_external)
        if (!ids.empty()) {
          Event external = call;
          external.kind = kExternalCorrelation;
          external.external_kind = kind;
          external.external = ids.back();
          Add(lock, external);
        }
    if (On(kRuntime) && !not_traced_.contains(call.callback)) Add(lock, call);
  }
  void Add(std::unique_lock<std::mutex>& lock, const Event& event) {
    constexpr size_t kMostWaiting = 1 << 16;
    events_.push_back(event);
    Ask(lock);  // programs flush only when a buffer was asked for
    if (events_.size() >= kMostWaiting) Deliver(lock);
  }
  void Sample(int64_t* host, uint64_t* program) const {
    int64_t best = INT64_MAX;  // of some tries the one that took least
    for (int i = 0; i < 8; ++i) {
      const int64_t before = Now();
      const uint64_t ticks = clock_();
      const int64_t took = Now() - before;
      if (took < best) best = took, *host = before + took / 2, *program = ticks;
    }
  }
  Scale TheScale() const {
    if (!clock_) return {};
    Scale scale{.host = clock_host_, .program = clock_program_};
    int64_t host = 0;
    uint64_t program = 0;
    do Sample(&host, &program);
    while (host - clock_host_ < 5'000'000);  // apart enough for a rate
    scale.rate =
        static_cast<double>(program - clock_program_) / static_cast<double>(host - clock_host_);
    return scale;
  }
  void Ask(std::unique_lock<std::mutex>& lock) {
    if (buffer_ || !request_) return;
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    const RequestFunction request = request_;
    lock.unlock();
    request(&buffer, &size, &most);
    lock.lock();
    if (buffer_) return;  // somebody else was faster: an empty buffer less for the program
    buffer_ = buffer, size_ = size, most_ = most, used_ = count_ = 0;
  }
  void Hand(std::unique_lock<std::mutex>& lock) {
    if (!buffer_ || !complete_) return;
    uint8_t* buffer = std::exchange(buffer_, nullptr);
    const CompleteFunction complete = complete_;
    const size_t size = size_, used = used_;
    lock.unlock();
    complete(nullptr, 0, buffer, size, used);
    lock.lock();
  }
  void Deliver(std::unique_lock<std::mutex>& lock) {
    if (!request_ || events_.empty()) return;
    const Scale scale = TheScale();
    const std::vector<Event> events = std::exchange(events_, {});
    for (const Event& event : events) {
      const size_t size = SizeOf(event.kind);
      if (buffer_ && (used_ + size > size_ || (most_ && count_ == most_))) Hand(lock);
      Ask(lock);
      if (!buffer_ || size > size_) break;
      Format(event, buffer_ + used_, scale);
      used_ += size;
      ++count_;
    }
  }

  static uint32_t StreamId(const Activity& activity) {
    constexpr uint32_t kDefault = 7;  // CUPTI's id of the default stream
    const size_t cards = ThePlatform().cards.size();
    return activity.stream <= cards ? kDefault
                                    : kDefault + 4 * static_cast<uint32_t>(activity.stream - cards);
  }
  static uint8_t MemoryKind(Place place) {
    switch (place) {
      case Place::kPageable:
        return 1;
      case Place::kPinned:
        return 2;
      case Place::kDevice:
        return 3;
      case Place::kManaged:
        return 5;
      default:
        return 0;
    }
  }
  static uint8_t CopyKind(Place from, Place to) {
    const bool device = from == Place::kDevice;
    if (to == Place::kDevice) return device ? 8 : 1;  // device to device, host to device
    return device ? 2 : 9;                            // device to host, host to host
  }
  template <class T>
  static void Put(const T& record, uint8_t* to) {
    std::memcpy(to, &record, sizeof record);
  }
  static void Format(const Event& event, uint8_t* to, const Scale& time) {
    const Activity& a = event.activity;
    const auto device = static_cast<uint32_t>(a.device), context = device + 1;
    switch (event.kind) {
      case kConcurrentKernel:
      case kKernel: {
        KernelRecord record = {};
        record.kind = event.kind;
        record.registers = static_cast<uint16_t>(std::clamp(a.registers, 0, 255));
        record.start = time(event.start), record.end = record.completed = time(event.end);
        record.device = device, record.context = context, record.stream = StreamId(a);
        const unsigned grid[] = {a.grid.x, a.grid.y, a.grid.z},
                       block[] = {a.block.x, a.block.y, a.block.z};
        for (int i = 0; i < 3; ++i)
          record.grid[i] = static_cast<int32_t>(grid[i]),
          record.block[i] = static_cast<int32_t>(block[i]);
        record.static_shared = static_cast<int32_t>(a.static_shared),
        record.dynamic_shared = static_cast<int32_t>(a.dynamic_shared);
        record.correlation = event.correlation, record.grid_id = event.correlation;
        record.name = a.name && *a.name ? a.name : "kernel";
        return Put(record, to);
      }
      case kMemcpy: {
        MemcpyRecord record = {};
        record.kind = event.kind, record.flags = 1, record.copies = 1;
        record.copy_kind = CopyKind(a.from, a.to), record.from_kind = MemoryKind(a.from),
        record.to_kind = MemoryKind(a.to);
        record.bytes = a.bytes, record.start = time(event.start), record.end = time(event.end);
        record.device = device, record.context = context, record.stream = StreamId(a),
        record.correlation = event.correlation;
        return Put(record, to);
      }
      case kMemset: {
        MemsetRecord record = {};
        record.kind = event.kind, record.bytes = a.bytes, record.memory_kind = MemoryKind(a.to);
        record.start = time(event.start), record.end = time(event.end);
        record.device = device, record.context = context, record.stream = StreamId(a),
        record.correlation = event.correlation;
        return Put(record, to);
      }
      case kRuntime:
        return Put(ApiRecord{kRuntime, event.callback, time(event.start), time(event.end),
                             static_cast<uint32_t>(getpid()), event.thread, event.correlation, 0},
                   to);
      case kExternalCorrelation:
        return Put(ExternalRecord{kExternalCorrelation, event.external_kind, event.external,
                                  event.correlation, 0},
                   to);
      case kSynchronization: {
        constexpr uint32_t kStream = 3, kContext = 4, kNoStream = 0xffffffff;
        SynchronizationRecord record = {};
        record.kind = kSynchronization, record.type = a.stream ? kStream : kContext;
        record.start = time(event.start), record.end = time(event.end),
        record.correlation = event.correlation;
        record.context = context, record.stream = a.stream ? StreamId(a) : kNoStream;
        return Put(record, to);
      }
      default:
        return;
    }
  }

  std::mutex mutex_;
  std::set<uint32_t> enabled_, not_traced_;
  std::vector<Event> events_;
  std::map<uint64_t, Stream> streams_;
  uint32_t correlation_ = 0;
  RequestFunction request_ = nullptr;
  CompleteFunction complete_ = nullptr;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, most_ = 0, count_ = 0;
  ClockFunction clock_ = nullptr;
  int64_t clock_host_ = 0;
  uint64_t clock_program_ = 0;
};

Tracer& TheTracer() {
  static auto* tracer = new Tracer;
  return *tracer;
}
int g_subscriber = 0;

}  // namespace
}  // namespace vramscope::emulated::cupti

using namespace vramscope::emulated;
using namespace vramscope::emulated::cupti;

// clang-format off
extern "C" {

int cuptiGetVersion(uint32_t* version) {
  if (!version) return kInvalidParameter;
  const Version cuda = CudaVersion(VRAMSCOPE_EMULATED_MAJOR);
  if (cuda.major == 11) *version = cuda.minor >= 8 ? 18 : 17;
  else if (cuda.major == 12) *version = cuda.minor >= 9 ? 28 : cuda.minor >= 8 ? 26 : cuda.minor >= 6 ? 24 : cuda.minor >= 4 ? 22 : 18;
  else *version = 130000;
  return kSuccess;
}
int cuptiGetResultString(int status, const char** text) {
  if (!text) return kInvalidParameter;
  *text = status == kSuccess ? "CUPTI_SUCCESS" : status == kMaxLimitReached ? "CUPTI_ERROR_MAX_LIMIT_REACHED" : "CUPTI_ERROR_INVALID_PARAMETER";
  return kSuccess;
}
int cuptiGetErrorMessage(int status, const char** text) { return cuptiGetResultString(status, text); }
int cuptiGetTimestamp(uint64_t* now) { return now ? (*now = TheTracer().Timestamp(), kSuccess) : kInvalidParameter; }
int cuptiGetDeviceId(void*, uint32_t* device) { return device ? (*device = static_cast<uint32_t>(CurrentDevice()), kSuccess) : kInvalidParameter; }
int cuptiGetContextId(void*, uint32_t* context) { return context ? (*context = static_cast<uint32_t>(CurrentDevice()) + 1, kSuccess) : kInvalidParameter; }
int cuptiFinalize() { return kSuccess; }

int cuptiSubscribe(void** subscriber, void*, void*) { return subscriber ? (*subscriber = &g_subscriber, kSuccess) : kInvalidParameter; }
int cuptiUnsubscribe(void*) { return kSuccess; }
int cuptiEnableCallback(uint32_t, void*, int, uint32_t) { return kSuccess; }
int cuptiEnableDomain(uint32_t, void*, int) { return kSuccess; }
int cuptiEnableAllDomains(uint32_t, void*) { return kSuccess; }

int cuptiActivityRegisterCallbacks(RequestFunction request, CompleteFunction complete) {
  if (!request || !complete) return kInvalidParameter;
  TheTracer().SetCallbacks(request, complete);
  return kSuccess;
}
int cuptiActivityRegisterTimestampCallback(ClockFunction clock) {
  TheTracer().SetClock(clock);
  return kSuccess;
}
int cuptiActivityEnable(uint32_t kind) { TheTracer().Enable(kind, true); return kSuccess; }
int cuptiActivityDisable(uint32_t kind) { TheTracer().Enable(kind, false); return kSuccess; }
int cuptiActivityEnableContext(void*, uint32_t kind) { return cuptiActivityEnable(kind); }
int cuptiActivityDisableContext(void*, uint32_t kind) { return cuptiActivityDisable(kind); }
int cuptiActivityEnableRuntimeApi(uint32_t callback, uint8_t on) { TheTracer().SetTraced(callback, on != 0); return kSuccess; }
int cuptiActivityEnableDriverApi(uint32_t, uint8_t) { return kSuccess; }
int cuptiActivityEnableLatencyTimestamps(uint8_t) { return kSuccess; }
int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return kSuccess; }
int cuptiActivityEnableHWTrace(uint8_t) { return kSuccess; }
int cuptiActivityConfigureUnifiedMemoryCounter(void*, uint32_t) { return kSuccess; }
int cuptiActivitySetAttribute(int, size_t*, void*) { return kSuccess; }
int cuptiActivityGetAttribute(int, size_t* bytes, void* value) {
  if (!bytes || !value) return kInvalidParameter;
  std::memset(value, 0, std::min<size_t>(*bytes, 8));
  return kSuccess;
}
int cuptiActivityFlushAll(uint32_t) { return TheTracer().Flush() ? kSuccess : kInvalidOperation; }
int cuptiActivityFlush(void*, uint32_t, uint32_t flag) { return cuptiActivityFlushAll(flag); }
int cuptiActivityFlushPeriod(uint32_t) { return kSuccess; }
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) { return dropped ? (*dropped = 0, kSuccess) : kInvalidParameter; }
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  if (!record || !buffer) return kInvalidParameter;
  uint8_t* next = buffer;
  if (*record) {
    uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const size_t size = SizeOf(kind);
    if (size == 0) return kMaxLimitReached;
    next = *record + size;
  }
  if (next < buffer || next >= buffer + valid) return kMaxLimitReached;
  *record = next;
  return kSuccess;
}
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) { t_external[kind].push_back(id); return kSuccess; }
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  constexpr int kQueueEmpty = 19;
  std::vector<uint64_t>& ids = t_external[kind];
  if (last) *last = ids.empty() ? 0 : ids.back();
  if (ids.empty()) return kQueueEmpty;
  ids.pop_back();
  return kSuccess;
}

}  // extern "C"
