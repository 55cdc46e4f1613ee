#include "cupti/library.h"

#include <dlfcn.h>
#include <time.h>

#include <array>

namespace vramscope::cupti {
namespace {

// The first CUPTI version whose records have the layouts of records.h.
constexpr uint32_t kOldest = 17;  // CUDA 11.7

constexpr std::array kSonames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                 "libcupti.so.11.7"};

struct Match {
  const char* runtime;
  std::array<const char*, 2> cupti;
};
constexpr std::array kOfRuntime = {
    Match{"libcudart.so.13", {"libcupti.so.13", nullptr}},
    Match{"libcudart.so.12", {"libcupti.so.12", nullptr}},
    Match{"libcudart.so.11.0", {"libcupti.so.11.8", "libcupti.so.11.7"}}};

void* Loaded(const char* soname) { return dlopen(soname, RTLD_NOW | RTLD_NOLOAD); }

// Opens libcupti: preferably the copy that is already loaded, then the version of the loaded CUDA
// runtime, then the newest version.
void* Open(std::string& name) {
  const auto take = [&](const char* soname, int flags) {
    void* handle = soname == nullptr ? nullptr : dlopen(soname, flags);
    if (handle != nullptr) name = soname;
    return handle;
  };
  constexpr int kThere = RTLD_NOW | RTLD_NOLOAD, kLoad = RTLD_NOW | RTLD_LOCAL;
  for (const char* soname : kSonames)
    if (void* handle = take(soname, kThere)) return handle;
  for (const Match& match : kOfRuntime) {
    void* runtime = Loaded(match.runtime);
    if (runtime == nullptr) continue;
    dlclose(runtime);
    for (const char* soname : match.cupti)
      if (void* handle = take(soname, kLoad)) return handle;
  }
  for (const char* soname : kSonames)
    if (void* handle = take(soname, kLoad)) return handle;
  return nullptr;
}

template <class Function>
bool Load(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

uint64_t Realtime() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Returns a function of the emulated platform, or null if the process does not use the platform.
template <typename Function>
Function FunctionOfPlatform(const char* name) {
  void* emulated = Loaded("libvramscope-emulated.so");
  return emulated == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(emulated, name));
}

}  // namespace

Found FindLibrary() {
  Found found;
  Library& l = found.library;
  void* handle = Open(l.name);  // never closed: its callbacks and buffers stay in use
  if (handle == nullptr) {
    found.problem =
        "no libcupti of CUDA 11.7 to 13 was found in this process or next to its CUDA runtime";
    return found;
  }
  const bool whole = Load(handle, "cuptiGetVersion", l.GetVersion) &&
                     Load(handle, "cuptiGetTimestamp", l.GetTimestamp) &&
                     Load(handle, "cuptiActivityRegisterCallbacks", l.ActivityRegisterCallbacks) &&
                     Load(handle, "cuptiActivityEnable", l.ActivityEnable) &&
                     Load(handle, "cuptiActivityDisable", l.ActivityDisable) &&
                     Load(handle, "cuptiActivityFlushAll", l.ActivityFlushAll) &&
                     Load(handle, "cuptiActivityGetNextRecord", l.ActivityGetNextRecord);
  if (!whole) {
    found.problem = l.name + " lacks functions of the CUPTI Activity API";
    return found;
  }
  Load(handle, "cuptiActivityGetNumDroppedRecords", l.ActivityGetNumDroppedRecords);
  Load(handle, "cuptiActivityRegisterTimestampCallback", l.ActivityRegisterTimestampCallback);
  Load(handle, "cuptiActivityPushExternalCorrelationId", l.ActivityPushExternalCorrelationId);
  Load(handle, "cuptiActivityPopExternalCorrelationId", l.ActivityPopExternalCorrelationId);
  Load(handle, "cuptiActivityEnableRuntimeApi", l.ActivityEnableRuntimeApi);
  Load(handle, "cuptiActivityEnableDriverApi", l.ActivityEnableDriverApi);
  Load(handle, "cuptiGetCallbackName", l.GetCallbackName);
  Load(handle, "cuptiGetStreamIdEx", l.GetStreamIdEx);
  Load(handle, "cuptiGetResultString", l.GetResultString);
  Load(handle, "cuptiSetThreadIdType", l.SetThreadIdType);
  Load(handle, "cuptiSubscribe", l.Subscribe);
  Load(handle, "cuptiUnsubscribe", l.Unsubscribe);
  if (l.GetVersion(&l.version) != kSuccess || l.version < kOldest)
    found.problem = l.name + " has version " + std::to_string(l.version) + ", but version " +
                    std::to_string(kOldest) + " (CUDA 11.7) or later is required";
  return found;
}

ClockFunction ClockOfProcess() {
  static const ClockFunction clock = [] {
    const auto now = FunctionOfPlatform<ClockFunction>("vramscope_emulated_now_ns");
    return now != nullptr ? now : &Realtime;
  }();
  return clock;
}

bool EnableOperands(uint64_t (*requests)(int device)) {
  using Tell = void (*)(uint64_t(*)(int));
  static const auto tell = FunctionOfPlatform<Tell>("vramscope_emulated_record_operands");
  if (tell != nullptr) tell(requests);
  return tell != nullptr && requests != nullptr;
}

void EnableCallSites(const char* (*site)()) {
  using Tell = void (*)(const char* (*)());
  static const auto tell = FunctionOfPlatform<Tell>("vramscope_emulated_record_call_sites");
  if (tell != nullptr) tell(site);
}

bool IsVirtual(ClockFunction clock) { return clock != &Realtime && clock == ClockOfProcess(); }

}  // namespace vramscope::cupti
