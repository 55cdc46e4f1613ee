// The functions of libtorch_cuda that the loop needs, as function pointers. Thus the worker does
// not link libtorch_cuda, and a process loads it only for a run that needs it. `cuda_library.cpp`
// is a separate module (libvramscope_torch_cuda.so). cuda_backend.cpp loads this module after the
// CUDA libraries were chosen: either the real ones or the emulated platform's.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace vramscope::trainer::cuda {

// One entry of the caching allocator's trace (c10::cuda::CUDACachingAllocator::TraceEntry).
struct AllocatorEntry {
  enum class Action : uint8_t {
    kAlloc,
    kFreeRequested,
    kFreeCompleted,
    kSegmentAlloc,
    kSegmentFree,
    kSegmentMap,
    kSegmentUnmap,
    kOutOfMemory,
  };
  Action action;
  int device;
  uint64_t address;  // if out of memory: the device's free bytes
  uint64_t bytes;    // requested size; for segments, their size
  uint64_t stream;
};
// Called from every thread that allocates, with the allocator's lock held.
using AllocatorTracker = void (*)(const AllocatorEntry& entry);

// The sizes of the workspaces that the first matrix product of a thread allocates. These workspaces
// stay allocated until clear_workspaces().
struct WorkspaceBytes {
  uint64_t cublas = 0, cublas_lt = 0;
};

struct CudaLibrary {
  int (*device_count)();
  // Attaches a tracker until the process ends, because LibTorch cannot detach it.
  void (*attach)(AllocatorTracker tracker);
  // `text` has the syntax of PYTORCH_CUDA_ALLOC_CONF. It must contain every key whose value differs
  // from LibTorch's default or from the previous value. Throws c10::Error.
  void (*set_allocator_settings)(const char* text);
  void (*set_memory_fraction)(double fraction, int device);
  WorkspaceBytes (*workspace_bytes)(int device);  // depends on the GPU: larger on Hopper
  void (*clear_workspaces)(int device);
  void (*empty_cache)(int device);
  int64_t (*allocated_bytes)(int device);
  void (*synchronize)(int device);
  void (*finish_work)(int device);  // waits for the device's current stream
  // Returns a ProcessGroupNCCL. Shut it down before the last reference to it is released.
  c10::intrusive_ptr<c10d::Backend> (*make_nccl)(const c10::intrusive_ptr<c10d::Store>& store,
                                                 int rank, int ranks);
};

// The module's only exported function.
using CudaLibraryEntry = const CudaLibrary* (*)();
inline constexpr char kCudaLibraryEntry[] = "vramscope_torch_cuda";

}  // namespace vramscope::trainer::cuda
