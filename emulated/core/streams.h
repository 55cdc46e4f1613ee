// Streams and events on the virtual clock. Work starts when the host has submitted it and its
// stream is free, and it takes its modelled duration. An event is done when the clock has passed
// its time. While a stream is captured, its work is added to a graph instead.
//
//   void* stream = nullptr;
//   ThePlatform().streams.Create(device, flags, priority, &stream);
//   ThePlatform().streams.Enqueue(stream, {.duration_ns = 5000}, &when, &captured);
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

// Why the clock moved, for callers that repeat the move later. kWork: work on the current device's
// default stream. kWait: a wait for that stream. kOther: events and other streams.
enum class ClockMove { kWork = 0, kWait = 1, kOther = 2 };

// cudaStreamCaptureMode.
enum class CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct CaptureFacts {
  bool capturing = false;
  bool invalidated = false;
  uint64_t id = 0;
  void* graph = nullptr;
  std::vector<void*> after;  // nodes that the stream's next node will depend on
};

class VRAMSCOPE_EMULATED_API Streams {
 public:
  // How many launches a stream queues before the host waits for the oldest, as with a real
  // driver.
  static constexpr size_t kDepth = 1024;

  Streams(Clock* clock, int devices);

  Result Create(int device, unsigned flags, int priority, void** stream);
  Result Destroy(void* stream);
  Result FactsOf(void* stream, StreamFacts* facts) const;

  // Submits work. While the stream is captured, the work becomes a node, and *captured is set.
  // Otherwise the caller must apply the effect of the work.
  Result Enqueue(void* stream, Node work, Interval* when, bool* captured);
  Result Wait(void* stream, void* event);  // cudaStreamWaitEvent
  Result Query(void* stream);              // kNotReady: work is pending
  Result Synchronize(void* stream);
  Result SynchronizeDevice(int device);

  Result CreateEvent(int device, unsigned flags, void** event);
  Result DestroyEvent(void* event);
  Result EventDevice(void* event, int* device) const;
  Result Record(void* event, void* stream);
  Result QueryEvent(void* event);
  Result SynchronizeEvent(void* event);
  Result Elapsed(void* first, void* second, float* milliseconds) const;

  // Captures work. During a capture by this thread (or by any thread, depending on the mode), some
  // calls must fail. These calls check Permitted().
  Result BeginCapture(void* stream, CaptureMode mode, void* into_graph);
  Result EndCapture(void* stream, void** graph);
  Result CaptureOf(void* stream, CaptureFacts* facts) const;
  Result SetCaptureDependencies(void* stream, const std::vector<void*>& nodes, bool add);
  static CaptureMode ExchangeMode(CaptureMode mode);
  Result Permitted() const;

  // Graphs.
  void* CreateGraph();
  Result DestroyGraph(void* graph);
  Result AddNode(void* graph, Node node, const std::vector<void*>& after, void** handle);
  // Adds a copy of `child` as one node of `graph`.
  Result AddChildGraph(void* graph, void* child, const std::vector<void*>& after, void** handle);
  Result NodesOf(void* graph, std::vector<void*>* nodes) const;
  Result DependenciesOf(void* node, std::vector<void*>* after) const;
  Result KindOf(void* node, NodeKind* kind) const;
  Result Instantiate(void* graph, void** executable);
  Result DestroyExecutable(void* executable);
  // Replaces the executable's nodes by the graph's current nodes.
  Result UpdateExecutable(void* executable, void* graph);
  Result CloneGraph(void* graph, void** clone);
  Result LaunchGraph(void* executable, void* stream);

  // Sets the observer, which is called whenever the clock moves. Null removes it. Locks are held
  // during the call, so the observer may use the clock, but no other part of the platform.
  using Observer = void (*)(void* context, int move, int64_t duration_ns);
  void SetObserver(Observer observer, void* context);
  // Repeats a move kWork or kWait on the current device without calling the observer. `waits` is
  // true if the call returns only when the work is done.
  RepeatedMove Repeat(ClockMove move, int64_t duration_ns, bool waits);

  // Sets the clock to 0 and drops pending work, as in a new process. Handles stay valid.
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
    std::vector<int64_t> ends;  // end times of about the last kDepth works
    uint64_t works = 0;
    std::shared_ptr<Capture> capture;
    std::vector<const Node*> last;  // dependencies of the stream's next node
  };
  struct Event {
    int device = 0;
    unsigned flags = 0;
    bool recorded = false;
    int64_t time = 0;
    // Set if the event was recorded while its stream was captured.
    std::shared_ptr<Capture> capture;
    std::vector<const Node*> last;
  };
  struct Replay;
  std::shared_ptr<Graph> CopyLocked(const Graph& graph);
  Stream* Find(void* stream) const;
  Event* FindEvent(void* event) const;
  const Node* FindNode(void* node) const;
  int64_t Start(const Stream& stream) const;
  Interval EnqueueLocked(Stream* stream, int64_t duration);
  Result CaptureLocked(Stream* stream, Node work);  // requires that the stream is being captured
  void NotifyObserver(ClockMove move, int64_t duration = 0) const {
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
  int captures_ = 0;         // number of active captures
  int global_captures_ = 0;  // number of captures of mode kGlobal
  int blocking_ = 0;         // streams that wait for the default stream
};

}  // namespace vramscope::emulated
