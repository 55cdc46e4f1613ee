#include "trainer/backends/cuda/cuda_library.h"

#include <ATen/Context.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

#include "trainer/backends/cuda/nccl_backend.h"

// ATen/cuda/CUDAContextLight.h declares these, but includes cuBLAS's headers.
namespace at::cuda {
void clearCublasWorkspaces();
size_t getChosenWorkspaceSize();
size_t getCUDABlasLtWorkspaceSize();
}  // namespace at::cuda

namespace vramscope::trainer::cuda {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

std::optional<AllocatorEntry::Action> ActionOf(caching::TraceEntry::Action action) {
  using From = caching::TraceEntry;
  using To = AllocatorEntry::Action;
  switch (action) {
    case From::ALLOC:
      return To::kAlloc;
    case From::FREE_REQUESTED:
      return To::kFreeRequested;
    case From::FREE_COMPLETED:
      return To::kFreeCompleted;
    case From::SEGMENT_ALLOC:
      return To::kSegmentAlloc;
    case From::SEGMENT_FREE:
      return To::kSegmentFree;
    case From::SEGMENT_MAP:
      return To::kSegmentMap;
    case From::SEGMENT_UNMAP:
      return To::kSegmentUnmap;
    case From::OOM:
      return To::kOutOfMemory;
    case From::SNAPSHOT:
      break;
  }
  return std::nullopt;
}

void Attach(AllocatorTracker tracker) {
  at::globalContext().lazyInitDevice(c10::kCUDA);
  caching::attachAllocatorTraceTracker([tracker](const caching::TraceEntry& entry) {
    if (const auto action = ActionOf(entry.action_)) {
      tracker({.action = *action,
               .device = entry.device_,
               .address = entry.addr_,
               .bytes = entry.size_,
               .stream = reinterpret_cast<uint64_t>(entry.stream_)});
    }
  });
}

void Synchronize(int device) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
  c10::cuda::device_synchronize();
}

constexpr CudaLibrary kLibrary{
    .device_count = [] { return static_cast<int>(c10::cuda::device_count()); },
    .attach = &Attach,
    .set_allocator_settings =
        [](const char* text) { c10::CachingAllocator::setAllocatorSettings(text); },
    .set_memory_fraction =
        [](double fraction, int device) {
          caching::setMemoryFraction(fraction, static_cast<c10::DeviceIndex>(device));
        },
    .workspace_bytes =
        [](int device) {
          const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
          return WorkspaceBytes{at::cuda::getChosenWorkspaceSize(),
                                at::cuda::getCUDABlasLtWorkspaceSize()};
        },
    .clear_workspaces =
        [](int device) {
          const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
          at::cuda::clearCublasWorkspaces();
        },
    .empty_cache =
        [](int device) {
          const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
          caching::emptyCache();
        },
    .allocated_bytes =
        [](int device) {
          constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
          return caching::getDeviceStats(static_cast<c10::DeviceIndex>(device))
              .allocated_bytes[kAll]
              .current;
        },
    .synchronize = &Synchronize,
    .finish_work =
        [](int device) {
          c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).synchronize();
        },
    .make_nccl = &MakeNccl,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const CudaLibrary* vramscope_torch_cuda() {
  return &kLibrary;
}

}  // namespace vramscope::trainer::cuda
