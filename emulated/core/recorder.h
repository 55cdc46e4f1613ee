// Who wants to know of all work and all memory (the emulated CUPTI): null when nobody does.
//
//   class Mine : public Recorder { void OnWork(const Activity& activity) override; ... };
//   SetRecorder(&mine);
//
// Set from one thread; called from any, without locks held. A recorder stays alive until the
// process ends.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

enum class ActivityKind { kKernel, kCopy, kFill };
enum class Place { kUnknown, kPageable, kPinned, kDevice, kManaged };

// What the program called. A library's call counts as the launch of one kernel.
enum class Call {
  kLaunchKernel,
  kDriverLaunchKernel,
  kGraphLaunch,
  kMemcpyAsync,
  kMemsetAsync,
  kMalloc,
  kFree,
  kMallocManaged,
  kHostAlloc,
  kFreeHost,
  kMallocAsync,
  kFreeAsync,
  kDriverMemAlloc,
  kDriverMemFree,
  kStreamSynchronize,
  kDeviceSynchronize,
  kEventSynchronize,
};

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  const char* name = "";  // mangled; lives as long as the process
  int device = 0;
  uint64_t stream = 0;  // its id
  int64_t start_ns = 0, end_ns = 0;
  uint64_t bytes = 0;
  Dim grid = {}, block = {};
  uint64_t dynamic_shared = 0, static_shared = 0;
  int registers = 0;
  Place from = Place::kUnknown, to = Place::kUnknown;
  bool modelled = false;  // a library's call, which on a card may launch several kernels
  Call call = Call::kLaunchKernel;
  bool first = true;                           // of its call: a graph's launch has many
  int64_t call_begin_ns = 0, call_end_ns = 0;  // as the host's virtual time goes
};

struct MemoryActivity {
  Call call = Call::kMalloc;
  bool allocated = true;
  Place place = Place::kDevice;
  uint64_t address = 0, bytes = 0;  // of what is freed, 0 where it is not known
  int device = 0;
  int64_t begin_ns = 0, end_ns = 0;
};

struct Synchronization {
  Call call = Call::kDeviceSynchronize;
  int device = 0;
  uint64_t stream = 0;  // 0: the device
  int64_t begin_ns = 0, end_ns = 0;
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void OnWork(const Activity& activity) = 0;
  virtual void OnMemory(const MemoryActivity& activity) = 0;
  virtual void OnSynchronize(const Synchronization& synchronization) = 0;
};

VRAMSCOPE_EMULATED_API void SetRecorder(Recorder* recorder);
VRAMSCOPE_EMULATED_API Recorder* TheRecorder();

}  // namespace vramscope::emulated
