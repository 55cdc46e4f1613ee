// Records which processes of a run are running on this computer, and how much memory of the
// emulated GPUs each uses, so that the sum stays within a GPU's memory.
//
//   SharedGpus gpus(folder);                   // the run's folder; "": this process is alone
//   gpus.Hold(device, bytes);                 // this process's share from now on
//   uint64_t taken = gpus.UsedByOtherProcesses(device);
//
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Returns a process's start in clock ticks after the computer's boot, or 0 if the process has
// ended. The start distinguishes processes that have the same id one after another.
VRAMSCOPE_EMULATED_API uint64_t StartOfProcess(pid_t process);

class VRAMSCOPE_EMULATED_API SharedGpus {
 public:
  static constexpr int kMostDevices = 64;
  static constexpr int kMostProcesses = 1024;

  explicit SharedGpus(const std::string& folder);
  ~SharedGpus();
  SharedGpus(const SharedGpus&) = delete;
  SharedGpus& operator=(const SharedGpus&) = delete;

  // Joins the processes of another run. Other threads must not use the object meanwhile, and this
  // process must not hold memory.
  void UseFolder(const std::string& folder);

  void Hold(int device, uint64_t bytes);

  struct Holder {
    pid_t process = 0;
    uint64_t bytes = 0;
  };
  // Returns the other running processes that use memory on the device.
  std::vector<Holder> OtherProcesses(int device) const;
  uint64_t UsedByOtherProcesses(int device) const;

 private:
  struct Slot;
  void Map(const std::string& folder);
  void Unmap();
  Slot* Own(bool make);
  template <typename Visit>
  void EachOther(int device, Visit&& visit) const;

  Slot* slots_ = nullptr;
  Slot* own_ = nullptr;
};

}  // namespace vramscope::emulated
