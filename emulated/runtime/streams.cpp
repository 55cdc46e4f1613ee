// Streams, events, capture.
#include <vector>

#include "emulated/core/recorder.h"
#include "emulated/runtime/status.h"

namespace vramscope::emulated::runtime {
namespace {

// The arrays that cudaStreamGetCaptureInfo returns. They are valid until this thread's next call.
thread_local std::vector<void*> capture_dependencies;
thread_local std::vector<GraphEdgeData> capture_edges;

constexpr int kNotCapturing = 0, kCapturing = 1, kCaptureInvalidated = 2;

int StatusOf(const CaptureFacts& facts) {
  return !facts.capturing ? kNotCapturing : facts.invalidated ? kCaptureInvalidated : kCapturing;
}

Error CaptureInformation(void* stream, int* status, unsigned long long* id, void** graph,
                         void* const** dependencies, const GraphEdgeData** edges, size_t* count) {
  CaptureFacts facts;
  if (const Result result = ThePlatform().streams.CaptureOf(stream, &facts);
      result != Result::kSuccess) {
    return Done(result);
  }
  if (status != nullptr) {
    *status = StatusOf(facts);
  }
  if (!facts.capturing) {
    return Done(Result::kSuccess);
  }
  capture_dependencies = std::move(facts.after);
  if (id != nullptr) {
    *id = facts.id;
  }
  if (graph != nullptr) {
    *graph = facts.graph;
  }
  if (dependencies != nullptr) {
    *dependencies = capture_dependencies.data();
  }
  if (edges != nullptr) {
    capture_edges.assign(capture_dependencies.size(), GraphEdgeData{});
    *edges = capture_edges.data();
  }
  if (count != nullptr) {
    *count = capture_dependencies.size();
  }
  return Done(Result::kSuccess);
}

Error UpdateDependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  const std::vector<void*> all(nodes, nodes + (nodes == nullptr ? 0 : count));
  return Done(ThePlatform().streams.SetCaptureDependencies(stream, all, flags == 0));
}

int64_t Now() { return ThePlatform().clock.now(); }

// Reports that the host has waited since `begin`.
void Synchronized(Call call, int device, uint64_t stream, int64_t begin) {
  ThePlatform().pools.Synchronized(device);
  if (Recorder* recorder = TheRecorder()) {
    recorder->OnSynchronize({call, device, stream, begin, Now()});
  }
}

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

Error cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  if (stream == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.Create(CurrentDevice(), flags, priority, stream));
}
Error cudaStreamCreate(void** stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
Error cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
Error cudaStreamDestroy(void* stream) { return Done(ThePlatform().streams.Destroy(stream)); }

Error cudaStreamGetPriority(void* stream, int* priority) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *priority = facts.priority;
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetPriority)
Error cudaStreamGetFlags(void* stream, unsigned* flags) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *flags = facts.flags;
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetFlags)
Error cudaStreamGetId(void* stream, unsigned long long* id) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *id = facts.id;
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetId)
Error cudaStreamGetDevice(void* stream, int* device) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *device = facts.device;
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetDevice)

Error cudaStreamQuery(void* stream) { return Done(ThePlatform().streams.Query(stream)); }
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamQuery)
Error cudaStreamSynchronize(void* stream) {
  StreamFacts facts;
  const int64_t begin = Now();
  const Result result = ThePlatform().streams.Synchronize(stream);
  if (result == Result::kSuccess &&
      ThePlatform().streams.FactsOf(stream, &facts) == Result::kSuccess) {
    Synchronized(Call::kStreamSynchronize, facts.device, facts.id, begin);
  }
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamSynchronize)
Error cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return Done(ThePlatform().streams.Wait(stream, event));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamWaitEvent)
Error cudaDeviceSynchronize() {
  ThePlatform().host_bytes.AwaitMessages();
  const int64_t begin = Now();
  const Result result = ThePlatform().streams.SynchronizeDevice(CurrentDevice());
  if (result == Result::kSuccess) {
    Synchronized(Call::kDeviceSynchronize, CurrentDevice(), 0, begin);
  }
  return Done(result);
}
Error cudaStreamAttachMemAsync(void*, void*, size_t, unsigned) { return Done(Result::kSuccess); }
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamAttachMemAsync)

Error cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return Done(CallHost(stream, function, argument));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaLaunchHostFunc)
Error cudaStreamAddCallback(void* stream, void (*callback)(void*, Error, void*), void* argument,
                            unsigned) {
  StreamFacts facts;
  if (const Result result = ThePlatform().streams.FactsOf(stream, &facts);
      result != Result::kSuccess) {
    return Done(result);
  }
  callback(stream, 0, argument);
  return Done(Result::kSuccess);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamAddCallback)

// ---- events
Error cudaEventCreateWithFlags(void** event, unsigned flags) {
  if (event == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.CreateEvent(CurrentDevice(), flags, event));
}
Error cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }
Error cudaEventDestroy(void* event) { return Done(ThePlatform().streams.DestroyEvent(event)); }
Error cudaEventRecord(void* event, void* stream) {
  return Done(ThePlatform().streams.Record(event, stream));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaEventRecord)
Error cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return Done(ThePlatform().streams.Record(event, stream));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaEventRecordWithFlags)
Error cudaEventQuery(void* event) { return Done(ThePlatform().streams.QueryEvent(event)); }
Error cudaEventSynchronize(void* event) {
  const int64_t begin = Now();
  const Result result = ThePlatform().streams.SynchronizeEvent(event);
  if (result == Result::kSuccess) {
    Synchronized(Call::kEventSynchronize, CurrentDevice(), 0, begin);
  }
  return Done(result);
}
Error cudaEventElapsedTime(float* milliseconds, void* first, void* second) {
  return Done(ThePlatform().streams.Elapsed(first, second, milliseconds));
}
#if VRAMSCOPE_CUDART == 12
Error cudaEventElapsedTime_v2(float* milliseconds, void* first, void* second) {
  return cudaEventElapsedTime(milliseconds, first, second);
}
#endif

// ---- capture
Error cudaStreamBeginCapture(void* stream, int mode) {
  return Done(ThePlatform().streams.BeginCapture(stream, static_cast<CaptureMode>(mode), nullptr));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamBeginCapture)
Error cudaStreamBeginCaptureToGraph(void* stream, void* graph, void**, const GraphEdgeData*, size_t,
                                    int mode) {
  return Done(ThePlatform().streams.BeginCapture(stream, static_cast<CaptureMode>(mode), graph));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamBeginCaptureToGraph)
Error cudaStreamEndCapture(void* stream, void** graph) {
  void* captured = nullptr;
  const Result result = ThePlatform().streams.EndCapture(stream, &captured);
  if (graph != nullptr) {
    *graph = captured;
  }
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamEndCapture)
Error cudaStreamIsCapturing(void* stream, int* status) {
  CaptureFacts facts;
  const Result result = ThePlatform().streams.CaptureOf(stream, &facts);
  *status = StatusOf(facts);
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamIsCapturing)
Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) {
    return Done(Result::kInvalidValue);
  }
  *mode = static_cast<int>(Streams::ExchangeMode(static_cast<CaptureMode>(*mode)));
  return Done(Result::kSuccess);
}

#if VRAMSCOPE_CUDART == 13
Error cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                               void* const** dependencies, const GraphEdgeData** edges,
                               size_t* count) {
  return CaptureInformation(stream, status, id, graph, dependencies, edges, count);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetCaptureInfo)
Error cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, const GraphEdgeData*,
                                          size_t count, unsigned flags) {
  return UpdateDependencies(stream, nodes, count, flags);
}
#else
Error cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  return CaptureInformation(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetCaptureInfo)
Error cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                  void* const** dependencies, size_t* count) {
  return CaptureInformation(stream, status, id, graph, dependencies, nullptr, count);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetCaptureInfo_v2)
Error cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, size_t count,
                                          unsigned flags) {
  return UpdateDependencies(stream, nodes, count, flags);
}
#endif
#if VRAMSCOPE_CUDART == 12
Error cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                  void* const** dependencies, const GraphEdgeData** edges,
                                  size_t* count) {
  return CaptureInformation(stream, status, id, graph, dependencies, edges, count);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamGetCaptureInfo_v3)
Error cudaStreamUpdateCaptureDependencies_v2(void* stream, void** nodes, const GraphEdgeData*,
                                             size_t count, unsigned flags) {
  return UpdateDependencies(stream, nodes, count, flags);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies_v2)
#endif
VRAMSCOPE_PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies)

}  // extern "C"
