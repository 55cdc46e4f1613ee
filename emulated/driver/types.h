// The structures of CUDA's driver API, written from its documentation. tests/emulated/layouts
// compares them with NVIDIA's headers if a toolkit is installed. The structures are the same in
// CUDA 11, 12 and 13.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/core/platform.h"

namespace vramscope::emulated::driver {

using Status = int;                  // CUresult
using Pointer = unsigned long long;  // CUdeviceptr

struct AllocationProperties {  // CUmemAllocationProp
  int type;
  int requestedHandleTypes;
  int location_type;  // 1: a device
  int location_id;
  void* win32HandleMetaData;
  unsigned char flags[8];
};
struct AccessDescription {  // CUmemAccessDesc
  int location_type;
  int location_id;
  int flags;
};
struct LaunchConfiguration {  // CUlaunchConfig
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void* hStream;
  void* attrs;
  unsigned numAttrs;
};
struct Copy2D {  // CUDA_MEMCPY2D
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void* srcHost;
  Pointer srcDevice;
  void* srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void* dstHost;
  Pointer dstDevice;
  void* dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

inline Status Done(Result result) { return static_cast<Status>(result); }
inline void* At(Pointer pointer) { return reinterpret_cast<void*>(pointer); }
inline bool KnownDevice(int device) {
  return device >= 0 && device < static_cast<int>(ThePlatform().gpus.size());
}

}  // namespace vramscope::emulated::driver

// Another name of a function: an older version of its interface with the same arguments, or the
// variant that uses the per-thread default stream for a null stream.
#define VRAMSCOPE_ALSO(other, name) decltype(name) other __attribute__((alias(#name)));
