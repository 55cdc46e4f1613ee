// Implements cuGetProcAddress. It looks up a function by its public name. The function has the
// interface of the CUDA version for which the program was built.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "emulated/driver/types.h"

namespace vramscope::emulated::driver {
namespace {

// Functions that got a new interface in CUDA 13. Programs for earlier versions get the previous
// interface.
struct Since13 {
  const char* name;
  const char* before;
  const char* since;
};
constexpr Since13 kSince13[] = {
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v3"},
    {"cuCtxCreate", "cuCtxCreate_v2", "cuCtxCreate_v4"},
    {"cuCtxGetDevice", "cuCtxGetDevice", "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", "cuCtxSynchronize", "cuCtxSynchronize_v2"},
    {"cuMemAdvise", "cuMemAdvise", "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync", "cuMemPrefetchAsync_v2"},
    {"cuGraphAddNode", "cuGraphAddNode", "cuGraphAddNode_v2"},
    {"cuGraphAddDependencies", "cuGraphAddDependencies", "cuGraphAddDependencies_v2"},
    {"cuGraphGetEdges", "cuGraphGetEdges", "cuGraphGetEdges_v2"},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies_v2"},
    {"cuGraphRemoveDependencies", "cuGraphRemoveDependencies", "cuGraphRemoveDependencies_v2"},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies",
     "cuStreamUpdateCaptureDependencies_v2"},
    {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetProcAddress_v2"},
};

void* Own(const std::string& name) {
  // Searches only this library, because a search of the whole program could find another function
  // with this name.
  static void* self = []() -> void* {
    Dl_info here;
    return dladdr(reinterpret_cast<void*>(&Own), &here) == 0
               ? nullptr
               : dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return self == nullptr ? nullptr : dlsym(self, name.c_str());
}

void* Find(const char* name, int version) {
  for (const Since13& row : kSince13) {
    if (std::strcmp(row.name, name) == 0) {
      return Own(version >= 13000 ? row.since : row.before);
    }
  }
  if (void* second = Own(std::string(name) + "_v2")) {
    return second;
  }
  return Own(name);
}

}  // namespace
}  // namespace vramscope::emulated::driver

using namespace vramscope::emulated;          // NOLINT: C functions follow
using namespace vramscope::emulated::driver;  // NOLINT

extern "C" {

Status cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t, int* answer) {
  constexpr int kFound = 0, kNotFound = 1;
  if (name == nullptr || function == nullptr || std::strncmp(name, "cu", 2) != 0) {
    return Done(Result::kInvalidValue);
  }
  // Programs for CUDA before 12 also look up cuGetProcAddress. The function that these programs get
  // returns no status.
  *function = version < 12000 && std::strcmp(name, "cuGetProcAddress") == 0
                  ? Own("cuGetProcAddress")
                  : Find(name, version);
  if (answer != nullptr) {
    *answer = *function != nullptr ? kFound : kNotFound;
  }
  if (*function == nullptr) {
    Log("the driver has no function %s", name);
    return Done(answer != nullptr ? Result::kSuccess : Result::kNotFound);
  }
  return 0;
}
Status cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"
