// The recorder turns a training step into events. Allocators, RecordFunction callbacks,
// saved-tensor hooks, modules and the loop all report to it.
//
//   Recorder r(sink, clock);                 // installed as Recorder::Current()
//   { PhaseScope p(Phase::kForward); ... }   // see scopes.h
//
// Threads: calls come from the loop's thread and from autograd's device thread. These never work at
// the same time if the order of events matters. A mutex protects the state. Does not use LibTorch's
// types, so that tests do not need LibTorch.
//
// An allocation's initial category is determined by the first rule that applies:
//   CategoryScope of the thread -> its category (workspaces)
//   phase setup                 -> Unknown; the loop retags parameters and buffers once registered
//   phase data                  -> Input
//   inside a backward node, not inside a module that the node recomputes -> Autograd detail
//   anything else               -> Temporary
// Later changes: saved for backward -> Activation, until the last node releases it; gradient
// accumulated -> Gradient; optimizer state stored -> Optimizer state.
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

// Returns the time of the run in ns: steady_clock on real backends, virtual time in a plan.
using Clock = std::function<int64_t()>;

struct RecorderOptions {
  bool record_ops = true;  // record OpBegin/OpEnd events; if false, allocations still name their op
  // If ops of a thread are nested deeper than this, the inner ones get no slice.
  uint32_t max_op_depth = 64;
};

class Recorder {
 public:
  Recorder(trace::EventSink& sink, Clock clock, const RecorderOptions& options = {});
  ~Recorder();  // flushes
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  static Recorder* Current();  // null if nothing is recorded
  // A number that no other recorder of this process has. Hooks may outlive their recorder, so they
  // use this number to check whether the current recorder is theirs.
  uint64_t serial() const;

  // --- memory: called by allocators. `key` is the data pointer, which identifies a tensor's
  // storage.
  void OnAlloc(uint64_t key, uint64_t bytes, uint64_t bytes_rounded, uint64_t address,
               uint32_t stream, trace::Pool pool);
  void OnFree(uint64_t key);  // unknown keys (allocated before the recording) are ignored
  // If `expandable`, `bytes` only counts addresses. OnSegmentMap and OnSegmentUnmap then report the
  // memory.
  void OnSegmentAlloc(uint64_t address, uint64_t bytes, uint32_t stream, trace::Pool pool,
                      bool expandable = false);
  void OnSegmentFree(uint64_t address);
  void OnSegmentMap(uint64_t segment, uint64_t address, uint64_t bytes);
  void OnSegmentUnmap(uint64_t segment, uint64_t address, uint64_t bytes);
  // `like` is the tape's event that is repeated. If it is null, this thread's open op allocates.
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free, const trace::Event* like = nullptr);
  // Called for a kernel, a memcpy, a wait or driver memory, with the call of this thread that
  // caused it (device_work.h). `like` is as above.
  void OnDeviceWork(const DeviceWork& work, const trace::Event* like = nullptr);
  // Called for activities from CUPTI or NVML. Their names are ids from Intern(), their threads are
  // system thread ids. New threads are added.
  void OnActivities(std::span<const trace::Activity> activities);
  // Sets the category of this thread's next allocations (for workspaces); see CategoryScope.
  void PushCategory(trace::Category category);
  void PopCategory();
  // Makes this thread's next allocations belong not to the open module, but to `path` (a
  // parameter's full name) or to the owner of the live allocation at `key`; see OwnerScope.
  void PushOwner(std::string_view path);
  void PushOwnerOf(uint64_t key);
  void PopOwner();

  // --- categories: Retag() sets the category of the live allocation at `key`. Does nothing if the
  // key is unknown or the category the same. `why` becomes the event's name ("saved for backward").
  void Retag(uint64_t key, trace::Category category, std::string_view why);
  trace::Category CategoryOf(uint64_t key) const;

  // --- saved tensors: a storage is an activation while at least one graph node saves it.
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
  void BeginModule(std::string_view name);  // the path begins with the open modules
  void EndModule();
  // `sequence_number` is < 0 if there is none. A backward node gets the module of the forward op
  // with this number. Each thread counts separately; `forward_thread` is the forward op's thread.
  void BeginOp(std::string_view name, int64_t sequence_number, bool backward,
               uint64_t forward_thread = 0);
  void EndOp();
  void Marker(std::string_view name);
  void BeginAnnotation(std::string_view name);  // a range that the program named
  void EndAnnotation();
  // Where the first exception left an op or a module: "op aten::mm, module model.layers.3.mlp".
  // Empty if there was none.
  std::string failure() const;
  void Flush();

  // --- recording and playing of a tape (tape.h). A tape must outlive its recording.
  void BeginTape(Tape* tape);
  void EndTape();
  // Says that the next `frees` frees are made together, in order of address.
  void TapeSorted(size_t frees);
  // Reports a call that advanced the virtual clock (a move). Only the backend interprets `move`.
  void OnMove(int move, int64_t duration_ns);
  // Returns the id of the live allocation at `key`, or ~0 if there is none.
  uint64_t IdOf(uint64_t key) const;
  // Returns this recorder's id of a string. Needed for events that have another recorder's ids.
  trace::StringId Intern(std::string_view text);
  // Repeats the tape's event `like` for this allocation, with the same name, module, category and
  // thread. Play the events in the tape's order. PlayFree() repeats both events of a free.
  void PlayAlloc(const trace::Event& like, uint64_t key, uint64_t bytes_rounded, trace::Pool pool);
  void PlayFree(const trace::Event& like, uint64_t key);
  void PlayRetag(const trace::Event& like, uint64_t key);
  void PlayOther(const trace::Event& like);
  void PlayDeviceWork(const TapeWork& like, const DeviceWorkTimes& times);

  // --- for error messages
  std::string CurrentModule() const;  // module of the calling thread; "" outside of modules
  std::string CurrentOp() const;
  uint64_t live_allocations() const;
  uint64_t events() const;  // number of events so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
