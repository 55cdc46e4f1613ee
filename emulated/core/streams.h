// Streams and events on the virtual clock. Work starts when its stream is free and the host has
// submitted it, and takes its modelled duration; an event is done when the clock has passed it.
//
//   void* stream = nullptr;
//   ThePlatform().streams.Create(device, flags, priority, &stream);
//   Span when = ThePlatform().streams.Enqueue(stream, duration_ns);
//
// Handles are numbers, the same ones in every run; 0, 1 and 2 are CUDA's default streams of the
// current device. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emulated/core/api.h"
#include "emulated/core/clock.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct StreamFacts {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;  // 1: does not synchronise with the default stream
  uint64_t id = 0;     // small number; the default stream of device d is d + 1
};

class VRAMSCOPE_EMULATED_API Streams {
 public:
  Streams(Clock* clock, int devices);

  Result Create(int device, unsigned flags, int priority, void** stream);
  Result Destroy(void* stream);
  Result Look(void* stream, StreamFacts* facts) const;

  // Work of so long a duration, submitted now.
  Result Enqueue(void* stream, int64_t duration_ns, Interval* when = nullptr);
  Result Wait(void* stream, void* event);  // cudaStreamWaitEvent
  Result Query(void* stream);              // kNotReady
  Result Synchronize(void* stream);
  void SynchronizeDevice(int device);

  Result CreateEvent(int device, unsigned flags, void** event);
  Result DestroyEvent(void* event);
  Result Record(void* event, void* stream);
  Result QueryEvent(void* event);
  Result SynchronizeEvent(void* event);
  Result Elapsed(void* first, void* second, float* milliseconds) const;

  // Of one stream; -1: no such stream.
  int64_t ready_ns(void* stream) const;

 private:
  struct Stream {
    StreamFacts facts;
    int64_t ready = 0;
  };
  struct Event {
    int device = 0;
    unsigned flags = 0;
    bool recorded = false;
    int64_t time = 0;
  };
  Stream* Find(void* stream) const;
  Event* FindEvent(void* event) const;
  int64_t Start(const Stream& stream) const;

  mutable std::mutex mutex_;
  Clock* clock_;
  mutable std::vector<Stream> defaults_;
  std::unordered_map<void*, std::unique_ptr<Stream>> streams_;
  std::unordered_map<void*, std::unique_ptr<Event>> events_;
  uint64_t next_stream_ = 0, next_event_ = 0;
};

}  // namespace vramscope::emulated
