// What the NVIDIA driver says about this computer's first GPU. The driver is loaded at run time, so
// that nothing here needs CUDA to build or to start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::nvml {

struct GpuProbe {
  bool device_node = false;  // /dev/nvidiactl or a WSL one
  bool library = false;      // libcuda.so.1 loads
  bool initialised = false;  // cuInit succeeds and there is a device
  std::string error;         // of the first step that failed
  int driver_version = 0;    // 13000 for CUDA 13.0
  int device_count = 0;
  std::string name;  // of device 0
  uint64_t memory_bytes = 0;
  uint32_t sm_count = 0;
  uint32_t max_threads_per_sm = 0;
  uint32_t compute_capability = 0;
  uint64_t context_bytes = 0;  // memory that a bare context took; 0 when not measured
};

// With `make_context`, measures what a context takes (a second or so, nothing stays).
GpuProbe ProbeGpu(bool make_context);

}  // namespace vramscope::nvml
