// Samples the memory of the GPUs that this process uses, including what other processes use, with
// NVIDIA's management library (NVML). The driver's library is found at run time, so no NVIDIA
// header is needed.
//
//   Sampler sampler;
//   if (const std::string problem = sampler.Open(); !problem.empty()) Say(problem);
//   for (const GpuMemory& gpu : sampler.Now()) Use(gpu.device, gpu.used, gpu.process);
//
// Samples only GPUs on which this process already has a context. Use from one
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvml/structs.h"

namespace vramscope::nvml {

struct GpuMemory {
  uint8_t device = 0;  // CUDA's index in this process
  uint64_t total = 0;  // size of the GPU's memory
  uint64_t used = 0;   // memory used by all processes
  // The memory that driver and firmware reserve. It is missing with an old library, which includes
  // it in `used`.
  std::optional<uint64_t> driver;
  // The part of `used` that belongs to this process. It is unknown under WSL, and if several
  // processes in a container use the GPU, because NVML then reports other pids.
  std::optional<uint64_t> process;
};

class Sampler {
 public:
  // Returns why NVML is not available, or "" if it is. The first call needs some milliseconds.
  std::string Open();
  // Returns one element for each GPU. Figures that NVML does not return are missing. Takes tens to
  // hundreds of microseconds per GPU.
  std::vector<GpuMemory> Now();

 private:
  // Returns NVML's handle of the GPU with this CUDA driver index, or null.
  void* HandleOf(int device);
  std::optional<uint64_t> OfThisProcess(void* handle) const;
  bool FindDriver();

  int (*MemoryInfo_)(void* handle, Memory*) = nullptr;
  int (*MemoryInfo2_)(void* handle, Memory2*) = nullptr;
  int (*Processes_)(void* handle, unsigned* count, Process*) = nullptr;
  int (*HandleByBus_)(const char* bus, void** handle) = nullptr;
  // Functions of the CUDA driver that the process has loaded.
  int (*DeviceCount_)(int* count) = nullptr;
  int (*BusOf_)(char* text, int length, int device) = nullptr;
  int (*ContextState_)(int device, unsigned* flags, int* active) = nullptr;
  std::vector<void*> handles_;
};

}  // namespace vramscope::nvml
