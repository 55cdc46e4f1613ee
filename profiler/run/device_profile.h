// The GPU that a run is planned for. The number of multiprocessors determines the workspaces of
// operators. Rates and bandwidth determine times. The memory determines whether a run fits. The
// figures and their sources are in resources/devices/.
//
//   ASSIGN_OR_RETURN(DeviceProfile d, FindDevice("rtx-4090"));
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct DeviceProfile {
  std::string key;   // "rtx-4090"
  std::string name;  // "NVIDIA GeForce RTX 4090"
  uint64_t memory_bytes = 0;
  uint64_t context_bytes = 0;  // CUDA context and libraries, outside the allocator's memory
  uint32_t sm_count = 0;
  uint32_t max_threads_per_sm = 0;
  uint32_t compute_capability = 0;  // 89 for 8.9
  uint64_t l2_bytes = 0;
  uint32_t boost_mhz = 0;
  uint32_t bus_bits = 0;
  uint64_t blas_workspace_bytes = 0;  // for each pair of a thread's handle and a stream
  double bandwidth_bytes_per_s = 0;
  double fp32_flops = 0;  // dense rates, per second
  double tf32_flops = 0;
  double bf16_flops = 0;
  std::string source;
};

const std::vector<DeviceProfile>& Devices();
absl::StatusOr<DeviceProfile> FindDevice(std::string_view key);  // errors list similar names

}  // namespace vramscope::run
