// Memory of the GPUs that this process uses, including the memory of other processes, from NVIDIA's
// management library (NVML). The driver's library is found at run time, so no NVIDIA header
// is needed.
//
//   Sampler sampler;
//   if (const std::string problem = sampler.Open(); !problem.empty()) Say(problem);
//   for (const GpuMemory& gpu : sampler.Now()) Use(gpu.device, gpu.used, gpu.process);
//
// Samples only GPUs that this process has a context on, and does not create contexts. Use from one
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
  // Memory reserved by driver and firmware. nullopt: an old library, which adds it to `used`.
  std::optional<uint64_t> driver;
  // The part of `used` that belongs to this process. Unknown under WSL and if several processes in
  // a container use the GPU, because NVML reports other pids there.
  std::optional<uint64_t> process;
};

class Sampler {
 public:
  // Returns why NVML is not available, or "" if it is. The first call needs some milliseconds.
  std::string Open();
  // One element for each GPU; figures that NVML does not return are missing. Takes tens to hundreds
  // of microseconds for each GPU.
  std::vector<GpuMemory> Now();

 private:
  // NVML's handle of a GPU by its CUDA driver index; null: none.
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
