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
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void OnWork(const Activity& activity) = 0;
  virtual void OnMemory(bool allocated, Place place, uint64_t address, uint64_t bytes,
                        int device) = 0;
  virtual void OnSynchronize(int device, uint64_t stream) = 0;  // stream 0: the device
};

VRAMSCOPE_EMULATED_API void SetRecorder(Recorder* recorder);
VRAMSCOPE_EMULATED_API Recorder* TheRecorder();

}  // namespace vramscope::emulated
