#include "trainer/capture/modelled_kernel.h"

#include <c10/core/DeviceGuard.h>

#include <atomic>

namespace vramscope::trainer {
namespace {
std::atomic<LaunchKernel> g_launch{nullptr};
}  // namespace

void SetKernelLauncher(LaunchKernel launch) { g_launch.store(launch, std::memory_order_relaxed); }

void LaunchModelled(const char* name, const at::Tensor& on, uint64_t bytes, double flops) {
  const LaunchKernel launch = g_launch.load(std::memory_order_relaxed);
  if (launch == nullptr || !on.is_cuda()) return;
  const c10::DeviceGuard guard(on.device());
  launch(name, bytes, flops);
}

}  // namespace vramscope::trainer
