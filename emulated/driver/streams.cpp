// Implements the driver's stream and event functions by calling the runtime's functions.
#include <utility>
#include <vector>

#include "emulated/driver/types.h"

using namespace vramscope::emulated;          // NOLINT: C functions follow
using namespace vramscope::emulated::driver;  // NOLINT

extern "C" {

Status cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return Done(ThePlatform().streams.Create(CurrentDevice(), flags, priority, stream));
}
Status cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
Status cuStreamDestroy_v2(void* stream) { return Done(ThePlatform().streams.Destroy(stream)); }
VRAMSCOPE_ALSO(cuStreamDestroy, cuStreamDestroy_v2)
Status cuStreamQuery(void* stream) { return Done(ThePlatform().streams.Query(stream)); }
VRAMSCOPE_ALSO(cuStreamQuery_ptsz, cuStreamQuery)
Status cuStreamSynchronize(void* stream) { return Done(ThePlatform().streams.Synchronize(stream)); }
VRAMSCOPE_ALSO(cuStreamSynchronize_ptsz, cuStreamSynchronize)
Status cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return Done(ThePlatform().streams.Wait(stream, event));
}
VRAMSCOPE_ALSO(cuStreamWaitEvent_ptsz, cuStreamWaitEvent)
Status cuStreamGetPriority(void* stream, int* priority) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *priority = facts.priority;
  return Done(result);
}
VRAMSCOPE_ALSO(cuStreamGetPriority_ptsz, cuStreamGetPriority)
Status cuStreamGetFlags(void* stream, unsigned* flags) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *flags = facts.flags;
  return Done(result);
}
VRAMSCOPE_ALSO(cuStreamGetFlags_ptsz, cuStreamGetFlags)
Status cuStreamGetId(void* stream, unsigned long long* id) {
  StreamFacts facts;
  const Result result = ThePlatform().streams.FactsOf(stream, &facts);
  *id = facts.id;
  return Done(result);
}
VRAMSCOPE_ALSO(cuStreamGetId_ptsz, cuStreamGetId)
Status cuStreamIsCapturing(void* stream, int* status) {
  CaptureFacts facts;
  const Result result = ThePlatform().streams.CaptureOf(stream, &facts);
  *status = !facts.capturing ? 0 : facts.invalidated ? 2 : 1;
  return Done(result);
}
VRAMSCOPE_ALSO(cuStreamIsCapturing_ptsz, cuStreamIsCapturing)
Status cuStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  CaptureFacts facts;
  const Result result = ThePlatform().streams.CaptureOf(stream, &facts);
  *status = !facts.capturing ? 0 : facts.invalidated ? 2 : 1;
  if (id != nullptr) {
    *id = facts.id;
  }
  return Done(result);
}
Status cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                 void* const** dependencies, size_t* count) {
  CaptureFacts facts;
  const Result result = ThePlatform().streams.CaptureOf(stream, &facts);
  *status = !facts.capturing ? 0 : facts.invalidated ? 2 : 1;
  if (id != nullptr) {
    *id = facts.id;
  }
  if (graph != nullptr) {
    *graph = facts.graph;
  }
  static thread_local std::vector<void*> after;
  after = std::move(facts.after);
  if (dependencies != nullptr) {
    *dependencies = after.data();
  }
  if (count != nullptr) {
    *count = after.size();
  }
  return Done(result);
}
VRAMSCOPE_ALSO(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2)
Status cuStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                 void* const** dependencies, const void** edges, size_t* count) {
  if (edges != nullptr) {
    *edges = nullptr;
  }
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}
VRAMSCOPE_ALSO(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3)
Status cuThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) {
    return Done(Result::kInvalidValue);
  }
  *mode = static_cast<int>(Streams::ExchangeMode(static_cast<CaptureMode>(*mode)));
  return 0;
}
Status cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return Done(CallHost(stream, function, argument));
}
VRAMSCOPE_ALSO(cuLaunchHostFunc_ptsz, cuLaunchHostFunc)
// Small signals between streams (symmetric memory). The value is written immediately, and a wait
// ends immediately.
Status cuStreamWriteValue32_v2(void* stream, Pointer at, uint32_t value, unsigned) {
  return Done(Fill(At(at), &value, sizeof value, 1, stream, false));
}
VRAMSCOPE_ALSO(cuStreamWriteValue32, cuStreamWriteValue32_v2)
Status cuStreamWriteValue64_v2(void* stream, Pointer at, uint64_t value, unsigned) {
  return Done(Fill(At(at), &value, sizeof value, 1, stream, false));
}
Status cuStreamWaitValue32_v2(void*, Pointer, uint32_t, unsigned) { return 0; }
VRAMSCOPE_ALSO(cuStreamWaitValue32, cuStreamWaitValue32_v2)

Status cuEventCreate(void** event, unsigned flags) {
  return Done(ThePlatform().streams.CreateEvent(CurrentDevice(), flags, event));
}
Status cuEventDestroy_v2(void* event) { return Done(ThePlatform().streams.DestroyEvent(event)); }
VRAMSCOPE_ALSO(cuEventDestroy, cuEventDestroy_v2)
Status cuEventRecord(void* event, void* stream) {
  return Done(ThePlatform().streams.Record(event, stream));
}
VRAMSCOPE_ALSO(cuEventRecord_ptsz, cuEventRecord)
Status cuEventRecordWithFlags(void* event, void* stream, unsigned) {
  return Done(ThePlatform().streams.Record(event, stream));
}
VRAMSCOPE_ALSO(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags)
Status cuEventQuery(void* event) { return Done(ThePlatform().streams.QueryEvent(event)); }
Status cuEventSynchronize(void* event) {
  return Done(ThePlatform().streams.SynchronizeEvent(event));
}
Status cuEventElapsedTime(float* milliseconds, void* first, void* second) {
  return Done(ThePlatform().streams.Elapsed(first, second, milliseconds));
}
VRAMSCOPE_ALSO(cuEventElapsedTime_v2, cuEventElapsedTime)

}  // extern "C"
