// The main part of the emulated libcupti. It collects what the platform's core reports, and writes
// it to the program's buffers later.
//
// A profiler normally measures operators with the host's real clock. So records have begin times of
// the real clock and durations of the virtual clock, and a synchronisation really waits. A program
// that registers vramscope_emulated_now_ns as its clock gets only virtual times. It gets each
// record immediately, and nothing waits.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "emulated/libraries/cupti_event.h"

namespace vramscope::emulated::cupti {

using RequestFunction = void (*)(uint8_t**, size_t*, size_t*);
using CompleteFunction = void (*)(void*, uint32_t, uint8_t*, size_t, size_t);
using ClockFunction = uint64_t (*)();

class Tracer : public Recorder {
 public:
  void OnWork(const Activity& activity) override;
  void OnMemory(const MemoryActivity& activity) override;
  void OnSynchronize(const Synchronization& synchronization) override;

  void Enable(uint32_t kind, bool on);
  void SetCallbacks(RequestFunction request, CompleteFunction complete);
  void SetClock(ClockFunction clock);
  void SetTraced(uint32_t callback, bool on);
  void SetSystemThreads(bool on);
  bool Flush();
  uint64_t Timestamp();
  size_t TakeDropped();
  // Returns false if there already is a subscriber, because a process can have only one.
  bool Subscribe();
  void Unsubscribe();

 private:
  struct Stream {
    int device = 0;
    int64_t busy = 0, virtual_end = 0;
  };
  using Lock = std::unique_lock<std::mutex>;

  Event NewCall(Call call, int64_t start, int64_t end);
  bool On(uint32_t kind) const {
    return enabled_.contains(kind) || (kind == kConcurrentKernel && enabled_.contains(kKernel));
  }
  void Called(Lock& lock, const Event& call);
  void Add(Lock& lock, const Event& event);
  void Sample(int64_t* host, uint64_t* program) const;
  Scale TheScale() const;
  void Ask(Lock& lock);
  void Hand(Lock& lock);
  void Deliver(Lock& lock);
  void Deliver(Lock& lock, const Event& event, const Scale& scale);

  std::mutex mutex_;
  std::set<uint32_t> enabled_, not_traced_;
  std::vector<Event> events_;
  std::map<uint64_t, Stream> streams_;
  std::map<uint64_t, uint64_t> sizes_;  // sizes of allocations, keyed by address
  uint32_t correlation_ = 0;
  RequestFunction request_ = nullptr;
  CompleteFunction complete_ = nullptr;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, most_ = 0, count_ = 0, dropped_ = 0;
  ClockFunction clock_ = nullptr;
  bool virtual_ = false, system_threads_ = false, subscribed_ = false;
  int64_t clock_host_ = 0;
  uint64_t clock_program_ = 0;
};

Tracer& TheTracer();

// Returns the external ids of each kind that the program has pushed on this thread.
std::map<uint32_t, std::vector<uint64_t>>& ExternalIds();

}  // namespace vramscope::emulated::cupti
