// Streams and events on the virtual clock. Work starts when its stream is free and the host has
// submitted it, and takes its modelled duration; an event is done when the clock has passed it. A
// stream that is being captured puts its work into a graph instead.
//
//   void* stream = nullptr;
//   ThePlatform().streams.Create(device, flags, priority, &stream);
//   ThePlatform().streams.Enqueue(stream, {.duration_ns = 5000});
//
// Handles are numbers, the same ones in every run; 0, 1 and 2 are CUDA's default streams of the
// current device. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emulated/core/api.h"
#include "emulated/core/clock.h"
#include "emulated/core/graph.h"
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

// What moves the clock, for who repeats it later: work on the current device's default stream, a
// wait for that stream, anything else (events, other streams).
enum class ClockMove { kWork = 0, kWait = 1, kOther = 2 };

// cudaStreamCaptureMode.
enum class CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct CaptureFacts {
  bool capturing = false;
  bool invalidated = false;
  uint64_t id = 0;
  void* graph = nullptr;
  std::vector<void*> after;  // nodes that the stream's next one will depend on
};

class VRAMSCOPE_EMULATED_API Streams {
 public:
  // How many works a stream takes before the host has to wait for the oldest: a driver's, as
  // observed.
  static constexpr size_t kDepth = 1024;

  Streams(Clock* clock, int devices);

  Result Create(int device, unsigned flags, int priority, void** stream);
  Result Destroy(void* stream);
  Result Look(void* stream, StreamFacts* facts) const;

  // Work submitted now. Of a stream that is being captured it becomes a node (*captured); else its
  // effect has to be done by the caller.
  Result Enqueue(void* stream, Node work, Interval* when, bool* captured);
  Result Wait(void* stream, void* event);  // cudaStreamWaitEvent
  Result Query(void* stream);              // kNotReady
  Result Synchronize(void* stream);
  Result SynchronizeDevice(int device);

  Result CreateEvent(int device, unsigned flags, void** event);
  Result DestroyEvent(void* event);
  Result LookEvent(void* event, int* device) const;
  Result Record(void* event, void* stream);
  Result QueryEvent(void* event);
  Result SynchronizeEvent(void* event);
  Result Elapsed(void* first, void* second, float* milliseconds) const;

  // Capture. Calls that a card refuses while a stream of the thread (or of any, by mode) is being
  // captured ask Permitted.
  Result BeginCapture(void* stream, CaptureMode mode, void* into_graph);
  Result EndCapture(void* stream, void** graph);
  Result LookCapture(void* stream, CaptureFacts* facts) const;
  Result SetCaptureDependencies(void* stream, const std::vector<void*>& nodes, bool add);
  static CaptureMode ExchangeMode(CaptureMode mode);
  Result Permitted() const;

  // Graphs.
  void* CreateGraph();
  Result DestroyGraph(void* graph);
  Result AddNode(void* graph, Node node, const std::vector<void*>& after, void** handle);
  // A copy of `child` as one node of `graph`.
  Result AddChildGraph(void* graph, void* child, const std::vector<void*>& after, void** handle);
  Result NodesOf(void* graph, std::vector<void*>* nodes) const;
  Result DependenciesOf(void* node, std::vector<void*>* after) const;
  Result KindOf(void* node, NodeKind* kind) const;
  Result Instantiate(void* graph, void** executable);
  Result DestroyExecutable(void* executable);
  // The executable does what the graph does from now on.
  Result UpdateExecutable(void* executable, void* graph);
  Result CloneGraph(void* graph, void** clone);
  Result LaunchGraph(void* executable, void* stream);

  // Told of every move while it is made, with locks held: it must not ask anything of the platform
  // but the clock. Null: nobody.
  using Observer = void (*)(void* context, int move, int64_t duration_ns);
  void SetObserver(Observer observer, void* context);
  // kWork and kWait made once more, of the current device; the observer is not told. `waits`: the
  // call returned when the work was done.
  RepeatedMove Repeat(ClockMove move, int64_t duration_ns, bool waits);

  // The device is as in a fresh process: clock 0, nothing pending. Handles stay.
  void Reset();

 private:
  struct Capture {
    uint64_t id = 0;
    void* origin = nullptr;
    void* graph = nullptr;
    bool owns_graph = true;
    bool invalidated = false;
    bool ended = false;
    CaptureMode mode = CaptureMode::kGlobal;
  };
  struct Stream {
    StreamFacts facts;
    int64_t ready = 0;
    std::vector<int64_t> ends;  // of the last kDepth works, round about
    uint64_t works = 0;
    std::shared_ptr<Capture> capture;
    std::vector<const Node*> last;  // what its next node depends on
  };
  struct Event {
    int device = 0;
    unsigned flags = 0;
    bool recorded = false;
    int64_t time = 0;
    std::shared_ptr<Capture> capture;  // recorded while its stream was being captured
    std::vector<const Node*> last;
  };
  struct Replay;
  std::shared_ptr<Graph> CopyLocked(const Graph& graph);
  Stream* Find(void* stream) const;
  Event* FindEvent(void* event) const;
  const Node* FindNode(void* node) const;
  int64_t Start(const Stream& stream) const;
  Interval EnqueueLocked(Stream* stream, int64_t duration);
  Result CaptureLocked(Stream* stream, Node work);  // of a stream that is being captured
  void Tell(ClockMove move, int64_t duration = 0) const {
    if (observer_ != nullptr) observer_(observer_context_, static_cast<int>(move), duration);
  }
  bool IsCurrentDefault(const Stream* stream) const;

  mutable std::mutex mutex_;
  Observer observer_ = nullptr;
  void* observer_context_ = nullptr;
  Clock* clock_;
  mutable std::vector<Stream> defaults_;
  std::unordered_map<void*, std::unique_ptr<Stream>> streams_;
  std::unordered_map<void*, std::unique_ptr<Event>> events_;
  std::unordered_map<void*, std::shared_ptr<Graph>> graphs_;
  std::unordered_map<void*, std::shared_ptr<Graph>> executables_;
  std::unordered_map<void*, const Node*> nodes_;
  uint64_t next_stream_ = 0, next_event_ = 0, next_graph_ = 1, next_node_ = 1, next_capture_ = 1;
  int captures_ = 0;         // active
  int global_captures_ = 0;  // of mode kGlobal
  int blocking_ = 0;         // streams that wait for the default stream
};

}  // namespace vramscope::emulated
