// Reads the properties of this computer's first GPU from the NVIDIA driver. The driver is loaded at
// run time, so building and starting need no CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::nvml {

struct GpuProbe {
  bool device_node = false;  // /dev/nvidiactl exists, or /dev/dxg (WSL)
  bool library = false;      // libcuda.so.1 loads
  bool initialised = false;  // cuInit succeeds and there is a device
  std::string error;         // error of the first step that failed
  int driver_version = 0;    // 13000 for CUDA 13.0
  int device_count = 0;
  std::string name;  // name of device 0
  uint64_t memory_bytes = 0;
  uint32_t sm_count = 0;
  uint32_t max_threads_per_sm = 0;
  uint32_t compute_capability = 0;
  uint64_t context_bytes = 0;  // memory that a context took; 0: not measured
};

// If `make_context`, creates a context for about a second in order to measure its memory.
GpuProbe ProbeGpu(bool make_context);

}  // namespace vramscope::nvml
