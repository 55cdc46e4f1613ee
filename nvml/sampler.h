// What NVIDIA's management library (NVML) says of the memory of the cards that this process uses:
// all of it, whoever has it. Found at run time, where the driver put it; no header of NVIDIA's.
//
//   Sampler sampler;
//   if (const std::string problem = sampler.Open(); !problem.empty()) Say(problem);
//   for (const CardMemory& card : sampler.Now()) Use(card.device, card.used, card.process);
//
// Only cards that this process has a context on are asked about: nobody gets one by being watched.
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvml/structs.h"

namespace vramscope::nvml {

struct CardMemory {
  uint8_t device = 0;              // as CUDA numbers them in this process
  uint64_t total = 0;              // of the card
  uint64_t used = 0;               // by all processes
  std::optional<uint64_t> driver;  // kept by driver and firmware, not in `used`; older ones: in it
  // Of `used`, this process's. Not told under WSL, and where several processes of a container use
  // the card: their numbers there are others.
  std::optional<uint64_t> process;
};

class Sampler {
 public:
  // Why there will be nothing; "": there will. Takes some milliseconds, once.
  std::string Open();
  // Without a figure of what NVML does not answer. Some ten to hundreds of microseconds a card.
  std::vector<CardMemory> Now();

 private:
  // NVML's handle of the card that the driver has under that number; null: none.
  void* HandleOf(int device);
  std::optional<uint64_t> OfThisProcess(void* handle) const;
  bool FindDriver();

  int (*MemoryInfo_)(void* handle, Memory*) = nullptr;
  int (*MemoryInfo2_)(void* handle, Memory2*) = nullptr;
  int (*Processes_)(void* handle, unsigned* count, Process*) = nullptr;
  int (*HandleByBus_)(const char* bus, void** handle) = nullptr;
  // The driver's, of the copy that the process has loaded.
  int (*DeviceCount_)(int* count) = nullptr;
  int (*BusOf_)(char* text, int length, int device) = nullptr;
  int (*ContextState_)(int device, unsigned* flags, int* active) = nullptr;
  std::vector<void*> handles_;
};

}  // namespace vramscope::nvml
