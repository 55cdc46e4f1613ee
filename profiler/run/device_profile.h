// The GPU that a run is planned for. Operator scratch depends on the multiprocessors, the clock on
// rates and bandwidth, "does it fit" on memory. Figures and their sources: resources/devices/.
//
//   ASSIGN_OR_RETURN(DeviceProfile d, FindDevice("rtx-4090"));
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

// What was read off such a card, in bytes: all zero where nobody has.
struct ContextGrowth {
  std::string driver;                            // "580.159.04"; empty: not measured
  std::string with;                              // "PyTorch 2.11, CUDA 13.0"
  uint64_t bare = 0;                             // a context in which nothing was launched
  uint64_t kernels = 0;                          // with the first kernel
  uint64_t cublas = 0, cudnn = 0, cusolver = 0;  // with each handle
  uint64_t cufft = 0, nccl = 0;                  // with the first plan, the first communicator
  uint64_t idle = 0;                             // in use on a card that nobody uses
};

struct DeviceProfile {
  std::string key;   // "rtx-4090"
  std::string name;  // "NVIDIA GeForce RTX 4090"
  uint64_t memory_bytes = 0;
  uint64_t context_bytes = 0;  // CUDA context and libraries, outside the allocator's pool
  ContextGrowth growth = {};   // how it comes to be that
  uint32_t sm_count = 0;
  uint32_t max_threads_per_sm = 0;
  uint32_t compute_capability = 0;  // 89 for 8.9
  uint64_t l2_bytes = 0;
  uint32_t boost_mhz = 0;
  uint32_t bus_bits = 0;
  uint64_t blas_workspace_bytes = 0;  // per (thread handle, stream)
  double bandwidth_bytes_per_s = 0;
  double fp32_flops = 0;  // dense rates, per second
  double tf32_flops = 0;
  double bf16_flops = 0;
  std::string source;
};

const std::vector<DeviceProfile>& Devices();
absl::StatusOr<DeviceProfile> FindDevice(std::string_view key);  // error lists the near names

}  // namespace vramscope::run
