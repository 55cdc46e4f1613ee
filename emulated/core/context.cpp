#include "emulated/core/context.h"

#include <atomic>
#include <cstdint>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

uint64_t BytesOf(const ContextGrowth& growth, ContextPart part) {
  switch (part) {
    case ContextPart::kKernels:
      return growth.kernels;
    case ContextPart::kCublas:
      return growth.cublas;
    case ContextPart::kCudnn:
      return growth.cudnn;
    case ContextPart::kCusolver:
      return growth.cusolver;
    case ContextPart::kCufft:
      return growth.cufft;
    case ContextPart::kNccl:
      return growth.nccl;
  }
  return 0;
}

// Bit masks of the devices that have had their first kernel, cuFFT plan or NCCL communicator.
std::atomic<uint64_t> g_kernels{0}, g_cufft{0}, g_nccl{0};

bool IsFirst(std::atomic<uint64_t>& devices, int device) {
  const uint64_t bit = uint64_t{1} << device;
  // Every launch calls this function. It reads first, because a read is cheaper than fetch_or.
  return (devices.load(std::memory_order_relaxed) & bit) == 0 &&
         (devices.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

}  // namespace

void GrowContext(int device, ContextPart part) {
  Platform& platform = ThePlatform();
  if (device < 0 || device >= static_cast<int>(platform.gpus.size())) return;
  if (part == ContextPart::kKernels && !IsFirst(g_kernels, device)) return;
  if (part == ContextPart::kCufft && !IsFirst(g_cufft, device)) return;
  if (part == ContextPart::kNccl && !IsFirst(g_nccl, device)) return;
  if (const uint64_t bytes = BytesOf(platform.gpus[device].growth, part); bytes > 0)
    platform.memory.GrowContext(device, bytes);
}

void ShrinkContext(int device, ContextPart part) {
  Platform& platform = ThePlatform();
  if (device < 0 || device >= static_cast<int>(platform.gpus.size())) return;
  platform.memory.ShrinkContext(device, BytesOf(platform.gpus[device].growth, part));
}

}  // namespace vramscope::emulated
