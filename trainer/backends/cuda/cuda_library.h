// What the loop needs of libtorch_cuda, as plain functions: so that the worker does not link it and
// a process loads it only where it runs on it. `cuda_library.cpp` is a module of its own
// (libvramscope_torch_cuda.so), loaded by cuda_backend.cpp after the CUDA libraries are settled:
// the real ones, or the emulated platform's.
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
  uint64_t address;  // out of memory: what the device had free
  uint64_t bytes;    // as asked for; of a segment: its size
  uint64_t stream;
};
// Called with the allocator's lock held, from every thread that allocates.
using AllocatorTracker = void (*)(const AllocatorEntry& entry);

// Of each thread that multiplies matrices, kept until they are cleared.
struct WorkspaceBytes {
  uint64_t cublas = 0, cublas_lt = 0;
};

struct CudaLibrary {
  int (*device_count)();
  // For the rest of the process: LibTorch has no way to take a tracker away.
  void (*attach)(AllocatorTracker tracker);
  // As PYTORCH_CUDA_ALLOC_CONF, every key that differs from LibTorch's defaults or from the
  // settings before. Throws c10::Error.
  void (*set_allocator_settings)(const char* text);
  void (*set_memory_fraction)(double fraction, int device);
  WorkspaceBytes (*workspace_bytes)(int device);  // by the card: more on Hopper
  void (*clear_workspaces)(int device);
  void (*empty_cache)(int device);
  int64_t (*allocated_bytes)(int device);
  void (*synchronize)(int device);
  void (*finish_work)(int device);  // of its present stream
  // LibTorch's ProcessGroupNCCL; to be shut down before the last reference goes.
  c10::intrusive_ptr<c10d::Backend> (*make_nccl)(const c10::intrusive_ptr<c10d::Store>& store,
                                                 int rank, int ranks);
};

// The module's only exported function.
using CudaLibraryEntry = const CudaLibrary* (*)();
inline constexpr char kCudaLibraryEntry[] = "vramscope_torch_cuda";

}  // namespace vramscope::trainer::cuda
