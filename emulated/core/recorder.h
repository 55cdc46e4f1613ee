// Interface to observe all work and all memory, used by the emulated CUPTI. The recorder is null if
// nothing observes.
//
//   class Mine : public Recorder { void OnWork(const Activity& activity) override; ... };
//   SetRecorder(&mine);
//
// Set the recorder from one thread. It is called from any thread, without locks held. A recorder
// must stay valid until the process ends.
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

// Returns how often the program's own allocator has allocated or freed memory of a device.
using CountRequests = uint64_t (*)(int device);
// From now on, work is reported with its operands or, if `requests` is null, without them. The
// thread rules of SetRecorder apply.
VRAMSCOPE_EMULATED_API void SetOperandsEnabled(CountRequests requests);
VRAMSCOPE_EMULATED_API CountRequests OperandsEnabled();

// Returns the line of Python code that the calling thread runs, such as "/home/me/train.py:88
// main", or null if it runs no Python. The text is valid until the process ends.
using CallSite = const char* (*)();
// From now on, host allocations are recorded with the result of `site` or, if `site` is null,
// without it. `site` may take the interpreter's lock, so the platform calls it with no lock held.
// The thread rules of SetRecorder apply.
VRAMSCOPE_EMULATED_API void SetCallSites(CallSite site);
VRAMSCOPE_EMULATED_API CallSite CallSites();

// Returns the name of a call, such as "cudaLaunchKernel" or "cuMemAlloc_v2".
VRAMSCOPE_EMULATED_API const char* NameOf(Call call);

}  // namespace vramscope::emulated
