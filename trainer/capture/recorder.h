// Turns what happens in a training step into events: the one object that allocators, RecordFunction
// callbacks, saved-tensor hooks, modules and the loop report to.
//
//   Recorder r(sink, clock);                 // installed as Recorder::Current()
//   { PhaseScope p(Phase::kForward); ... }   // see scopes.h
//
// Thread rule: callbacks come from the loop's thread and from autograd's device thread, never at
// the same moment doing work that matters for order; a mutex keeps the columns whole.
// Free of LibTorch types, so that it can be tested without.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/trace/event_sink.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer {

// Time of the run in ns: steady_clock for real backends, the roofline's virtual time for plan.
using Clock = std::function<int64_t()>;

class Recorder {
 public:
  Recorder(trace::EventSink& sink, Clock clock);
  ~Recorder();  // flushes
  static Recorder* Current();  // null when nothing is recorded

  // --- memory, from allocators. `key` is the data pointer: what a tensor's storage can be found by.
  void OnAlloc(uint64_t key, uint64_t bytes, uint64_t bytes_rounded, uint64_t address,
               uint32_t stream, trace::Pool pool);
  void OnFree(uint64_t key);
  void OnSegmentAlloc(uint64_t address, uint64_t bytes, uint32_t stream, trace::Pool pool);
  void OnSegmentFree(uint64_t address);
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free);
  // The next allocations of this thread are of that category (workspaces, scratch); see CategoryScope.
  void PushCategory(trace::Category category);
  void PopCategory();

  // --- categories: from now on the live allocation at `key` counts as `category`. Unknown keys and
  // no change are ignored. `why` ends as the event's name ("saved for backward").
  void Retag(uint64_t key, trace::Category category, std::string_view why);
  trace::Category CategoryOf(uint64_t key) const;

  // --- saved tensors: a storage is an activation while at least one graph node keeps it.
  void OnSaved(uint64_t key);
  void OnSavedReleased(uint64_t key);

  // --- structure
  void BeginStep(int step);
  void EndStep();
  void BeginMicroBatch(int index);
  void EndMicroBatch();
  void BeginPhase(trace::Phase phase);
  void EndPhase();
  trace::Phase phase() const;
  void BeginModule(std::string_view name);  // one name; the path is made from the open modules
  void EndModule();
  void BeginOp(std::string_view name, int64_t sequence_number, bool backward);
  void EndOp();
  void Marker(std::string_view name);
  void Flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
