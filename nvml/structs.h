// What NVML fills in, in the order and with the sizes that NVIDIA documents: of the functions that
// the sampler calls. Whoever stands in for NVML in a test has the same types, so that the functions
// are called by the types that they have.
#pragma once

namespace vramscope::nvml {

struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

}  // namespace vramscope::nvml
