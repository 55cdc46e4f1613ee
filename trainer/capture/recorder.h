// Turns what happens in a training step into events: the one object that allocators, RecordFunction
// callbacks, saved-tensor hooks, modules and the loop report to.
//
//   Recorder r(sink, clock);                 // installed as Recorder::Current()
//   { PhaseScope p(Phase::kForward); ... }   // see scopes.h
//
// Thread rule: callbacks come from the loop's thread and from autograd's device thread, never at
// the same moment doing work that matters for order; a mutex keeps the columns whole.
// Free of LibTorch types, so that it can be tested without.
//
// How an allocation gets its category at birth (DESIGN 5), first rule that applies:
//   CategoryScope of the thread -> that one (workspaces, scratch)
//   phase setup                 -> Unknown; the loop retags parameters and buffers once registered
//   phase data                  -> Input
//   inside a backward node, not inside a module that the node recomputes -> Autograd detail
//   anything else               -> Temporary
// and later: saved for backward -> Activation, back to what it was when the last node lets go;
// gradient accumulated -> Gradient; optimizer state stored -> Optimizer state.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "profiler/trace/event_sink.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer {

struct DeviceWork;
struct DeviceWorkTimes;
struct Tape;
struct TapeWork;

// Time of the run in ns: steady_clock for real backends, the roofline's virtual time for plan.
using Clock = std::function<int64_t()>;

struct RecorderOptions {
  bool record_ops = true;  // OpBegin/OpEnd events; allocations name their op either way
  // Ops deeper than this below the outermost one of their thread get no slice of their own.
  uint32_t max_op_depth = 64;
};

class Recorder {
 public:
  Recorder(trace::EventSink& sink, Clock clock, const RecorderOptions& options = {});
  ~Recorder();  // flushes
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  static Recorder* Current();  // null when nothing is recorded
  // Differs between recorders of a process: for hooks that may outlive the one they reported to.
  uint64_t serial() const;

  // --- memory, from allocators. `key` is the data pointer: what a tensor's storage can be found
  // by.
  void OnAlloc(uint64_t key, uint64_t bytes, uint64_t bytes_rounded, uint64_t address,
               uint32_t stream, trace::Pool pool);
  void OnFree(uint64_t key);  // unknown keys (allocated before the recording) are ignored
  // `expandable`: bytes are addresses, memory comes and goes with OnSegmentMap and OnSegmentUnmap.
  void OnSegmentAlloc(uint64_t address, uint64_t bytes, uint32_t stream, trace::Pool pool,
                      bool expandable = false);
  void OnSegmentFree(uint64_t address);
  void OnSegmentMap(uint64_t segment, uint64_t address, uint64_t bytes);
  void OnSegmentUnmap(uint64_t segment, uint64_t address, uint64_t bytes);
  // `like`: the played event that asks; null: what the thread has open asks.
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free, const trace::Event* like = nullptr);
  // A kernel, a copy, a wait, the driver's memory, with the call of this thread that it was made
  // for (device_work.h). `like`: as above.
  void OnDeviceWork(const DeviceWork& work, const trace::Event* like = nullptr);
  // What somebody else saw (CUPTI, NVML), names by Intern() and threads by the system's numbers;
  // whoever is not known by its number is a thread more.
  void OnActivities(std::span<const trace::Activity> activities);
  // The next allocations of this thread are of that category (workspaces, scratch); see
  // CategoryScope.
  void PushCategory(trace::Category category);
  void PopCategory();
  // The next allocations of this thread belong to `path` (a parameter's full name) rather than to
  // the open module; see OwnerScope. By key: to whom the live allocation at `key` belongs.
  void PushOwner(std::string_view path);
  void PushOwnerOf(uint64_t key);
  void PopOwner();

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
  // `sequence_number` < 0: none. A forward op's number leads its backward node to the forward
  // module; `forward_thread` is the thread that counted it (numbers are per thread).
  void BeginOp(std::string_view name, int64_t sequence_number, bool backward,
               uint64_t forward_thread = 0);
  void EndOp();
  void Marker(std::string_view name);
  void BeginAnnotation(std::string_view name);  // a range with a name of its own
  void EndAnnotation();
  // Where the first exception that unwound an op or a module came from: "op aten::mm, module
  // model.layers.3.mlp"; empty: none did.
  std::string failure() const;
  void Flush();

  // --- a stretch of events kept and reported again (tape.h). The tape must outlive its recording.
  void BeginTape(Tape* tape);
  void EndTape();
  // The next `frees` requests to free are made together, by address.
  void TapeSorted(size_t frees);
  // What moved a clock that is counted: `move` means something to the backend alone.
  void OnMove(int move, int64_t duration_ns);
  // The allocation that is live at `key`; ~0: none.
  uint64_t IdOf(uint64_t key) const;
  // The number of a name here, for events that another recorder numbered.
  trace::StringId Intern(std::string_view text);
  // What an event of a tape said, now of this allocation; `like` gives name, module, category and
  // thread. Played in the tape's order, frees as one call for both of their events.
  void PlayAlloc(const trace::Event& like, uint64_t key, uint64_t bytes_rounded, trace::Pool pool);
  void PlayFree(const trace::Event& like, uint64_t key);
  void PlayRetag(const trace::Event& like, uint64_t key);
  void PlayOther(const trace::Event& like);
  void PlayDeviceWork(const TapeWork& like, const DeviceWorkTimes& times);

  // --- for whoever has to explain a failure
  std::string CurrentModule() const;  // of the calling thread; "" outside
  std::string CurrentOp() const;
  uint64_t live_allocations() const;
  uint64_t events() const;  // so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
