// Who wants to know of all work and all memory (the emulated CUPTI): null when nobody does.
//
//   class Mine : public Recorder { void OnWork(const Activity& activity) override; ... };
//   SetRecorder(&mine);
//
// Set from one thread; called from any, without locks held. A recorder stays alive until the
// process ends.
#pragma once

#include "emulated/core/activity.h"
#include "emulated/core/api.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void OnWork(const Activity& activity) = 0;
  virtual void OnMemory(const MemoryActivity& activity) = 0;
  virtual void OnSynchronize(const Synchronization& synchronization) = 0;
};

VRAMSCOPE_EMULATED_API void SetRecorder(Recorder* recorder);
VRAMSCOPE_EMULATED_API Recorder* TheRecorder();

// How often the program has asked its own allocator for memory of a device or given it back.
using CountRequests = uint64_t (*)(int device);
// Work is told with its operands from now on; null: without. Set and called as the recorder is.
VRAMSCOPE_EMULATED_API void SetOperandsWanted(CountRequests requests);
VRAMSCOPE_EMULATED_API CountRequests OperandsWanted();

// "cudaLaunchKernel", "cuMemAlloc_v2".
VRAMSCOPE_EMULATED_API const char* NameOf(Call call);

}  // namespace vramscope::emulated
