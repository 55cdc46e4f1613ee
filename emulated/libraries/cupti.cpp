// Implements libcupti's Activity interface with the core's recorder. An unmodified profiler
// (PyTorch's Kineto) receives a record of every kernel, memcpy and memset, with its API call and
// the operator that made the call.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "emulated/core/platform.h"
#include "emulated/libraries/cupti_tracer.h"
#include "emulated/libraries/toolkit_versions.h"

namespace {
int g_subscriber = 0;
}  // namespace

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
  *text = status == kSuccess ? "CUPTI_SUCCESS" : status == kMaxLimitReached ? "CUPTI_ERROR_MAX_LIMIT_REACHED" : status == kMultipleSubscribers ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_INVALID_PARAMETER";
  return kSuccess;
}
int cuptiGetErrorMessage(int status, const char** text) { return cuptiGetResultString(status, text); }
int cuptiGetTimestamp(uint64_t* now) { return now ? (*now = TheTracer().Timestamp(), kSuccess) : kInvalidParameter; }
int cuptiGetDeviceId(void*, uint32_t* device) { return device ? (*device = static_cast<uint32_t>(CurrentDevice()), kSuccess) : kInvalidParameter; }
int cuptiGetContextId(void*, uint32_t* context) { return context ? (*context = static_cast<uint32_t>(CurrentDevice()) + 1, kSuccess) : kInvalidParameter; }
int cuptiGetStreamIdEx(void*, void* stream, uint8_t, uint32_t* id) {
  StreamFacts facts;
  if (!id || ThePlatform().streams.FactsOf(stream, &facts) != Result::kSuccess) return kInvalidParameter;
  *id = RecordsStreamId(facts.id);
  return kSuccess;
}
int cuptiGetStreamId(void* context, void* stream, uint32_t* id) { return cuptiGetStreamIdEx(context, stream, 0, id); }
int cuptiFinalize() { TheTracer().Unsubscribe(); return kSuccess; }
int cuptiSetThreadIdType(uint32_t type) { TheTracer().SetSystemThreads(type == 1); return kSuccess; }
int cuptiGetCallbackName(uint32_t domain, uint32_t callback, const char** name) {
  if (!name) return kInvalidParameter;
  *name = NameOf(domain, callback);
  return *name ? kSuccess : kInvalidParameter;
}

int cuptiSubscribe(void** subscriber, void*, void*) {
  if (!subscriber) return kInvalidParameter;
  if (!TheTracer().Subscribe()) return kMultipleSubscribers;
  *subscriber = &g_subscriber;
  return kSuccess;
}
int cuptiUnsubscribe(void*) { TheTracer().Unsubscribe(); return kSuccess; }
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
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) { return dropped ? (*dropped = TheTracer().TakeDropped(), kSuccess) : kInvalidParameter; }
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
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) { ExternalIds()[kind].push_back(id); return kSuccess; }
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  std::vector<uint64_t>& ids = ExternalIds()[kind];
  if (last) *last = ids.empty() ? 0 : ids.back();
  if (ids.empty()) return kQueueEmpty;
  ids.pop_back();
  return kSuccess;
}

}  // extern "C"
