// The functions of libtorch_cuda that the loop needs, as plain function pointers. So the worker
// does not link libtorch_cuda, and a process loads libtorch_cuda only for a run that needs it.
// `cuda_library.cpp` is a separate module (libvramscope_torch_cuda.so). cuda_backend.cpp loads it
// after the CUDA libraries have been chosen: the real ones, or the emulated platform's.
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

// Sizes of the workspaces that a thread's first matrix product allocates. The workspaces remain
// until clear_workspaces().
struct WorkspaceBytes {
  uint64_t cublas = 0, cublas_lt = 0;
};

struct CudaLibrary {
  int (*device_count)();
  // Attached for the life of the process, because LibTorch cannot detach a tracker.
  void (*attach)(AllocatorTracker tracker);
  // `text`: in the syntax of PYTORCH_CUDA_ALLOC_CONF, with every key whose value differs from
  // LibTorch's default or from the previous setting. Throws c10::Error.
  void (*set_allocator_settings)(const char* text);
  void (*set_memory_fraction)(double fraction, int device);
  WorkspaceBytes (*workspace_bytes)(int device);  // depends on the GPU: larger on Hopper
  void (*clear_workspaces)(int device);
  void (*empty_cache)(int device);
  int64_t (*allocated_bytes)(int device);
  void (*synchronize)(int device);
  void (*finish_work)(int device);  // waits for the device's current stream
  // LibTorch's ProcessGroupNCCL. It must be shut down before the last reference is released.
  c10::intrusive_ptr<c10d::Backend> (*make_nccl)(const c10::intrusive_ptr<c10d::Store>& store,
                                                 int rank, int ranks);
};

// The module's only exported function.
using CudaLibraryEntry = const CudaLibrary* (*)();
inline constexpr char kCudaLibraryEntry[] = "vramscope_torch_cuda";

}  // namespace vramscope::trainer::cuda
