#include "profiler/run/reported_gpu.h"

#include <tuple>

#include "profiler/run/emulated_gpu.h"

namespace vramscope::run {

std::optional<DeviceProfile> TableEntryOf(const ReportedGpu& gpu) {
  std::optional<DeviceProfile> found;
  std::tuple<int, uint64_t> best;  // difference of names, difference in memory
  for (const DeviceProfile& d : Devices()) {
    const uint64_t off = d.memory_bytes < gpu.memory_bytes ? gpu.memory_bytes - d.memory_bytes
                                                           : d.memory_bytes - gpu.memory_bytes;
    if (d.compute_capability != gpu.compute_capability || d.sm_count != gpu.sm_count ||
        off > d.memory_bytes / 20)
      continue;
    // If the driver's name is ambiguous, the table's name has a suffix: "... HBM3 (SXM5)". Such a
    // name is second best, so "NVIDIA A10" does not match the A10G.
    const int name = CudaName(d.name) == gpu.name ? 0 : d.name.starts_with(gpu.name) ? 1 : 2;
    const std::tuple<int, uint64_t> now{name, off};
    if (found && best <= now) continue;
    found = d;
    best = now;
  }
  return found;
}

DeviceProfile ProfileOf(const ReportedGpu& gpu) {
  if (gpu.name.empty()) return {};
  DeviceProfile profile = TableEntryOf(gpu).value_or(DeviceProfile{});
  profile.name = gpu.name;
  profile.memory_bytes = gpu.memory_bytes;
  profile.sm_count = gpu.sm_count;
  profile.compute_capability = gpu.compute_capability;
  for (const DeviceProfile& d : Devices()) {
    if (d.compute_capability == gpu.compute_capability)
      profile.blas_workspace_bytes = d.blas_workspace_bytes;
  }
  return profile;
}

}  // namespace vramscope::run
