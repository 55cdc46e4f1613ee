// What a card did and what the program called, as the platform tells it: to its CUPTI
// (recorder.h), and to a program that plans in this process (vramscope_emulated_listen), which
// includes this header of the platform and no other. Plain values; pointers to text live as long
// as the process.
#pragma once

#include <cstdint>

namespace vramscope::emulated {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

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
  kMemSetAccess,
  kMemUnmap,
  kStreamSynchronize,
  kDeviceSynchronize,
  kEventSynchronize,
};

// Memory of a card that work was given the address of.
enum class Use : uint8_t { kUnknown = 0, kRead = 1, kWritten = 2, kBoth = 3 };
struct Operand {
  uint64_t address = 0;
  Use use = Use::kUnknown;
};

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  const char* name = "";  // mangled; of a library's call "cublasSgemm_v2 (modelled)"
  int device = 0;
  uint64_t stream = 0;  // its id
  int64_t start_ns = 0, end_ns = 0;
  uint64_t bytes = 0;
  Dim grid = {}, block = {};
  uint64_t dynamic_shared = 0, static_shared = 0;
  int registers = 0;
  Place from = Place::kUnknown, to = Place::kUnknown;
  Call call = Call::kLaunchKernel;
  bool first = true;                           // of its call: a graph's launch has many
  bool waits = false;                          // the call returned when it was done
  int64_t call_begin_ns = 0, call_end_ns = 0;  // as the host's virtual time goes
  // Of a recorder's call alone, and only where somebody wants them (recorder.h): each address once.
  const Operand* operands = nullptr;
  uint32_t operand_count = 0;
  uint64_t requests = 0;  // when they were given, which of a graph's work is when it was captured
};

struct MemoryActivity {
  Call call = Call::kMalloc;
  bool allocated = true;
  bool first = true;  // of its call: access to a range of addresses may be to many allocations
  Place place = Place::kDevice;
  uint64_t address = 0, bytes = 0;  // of what is freed, 0 where it is not known
  int device = 0;
  int64_t begin_ns = 0, end_ns = 0;
  const void* caller = nullptr;  // code that asked; null: not told
};

struct Synchronization {
  Call call = Call::kDeviceSynchronize;
  int device = 0;
  uint64_t stream = 0;  // 0: the device
  int64_t begin_ns = 0, end_ns = 0;
};

// A move of the clock made once more (vramscope_emulated_repeat), as the first time: when the work
// ran, and from when to when the host was in the call. Of a wait both are the same.
struct RepeatedMove {
  int64_t start_ns = 0, end_ns = 0;
  int64_t call_begin_ns = 0, call_end_ns = 0;
};

// Called from any thread, without locks held, for as long as the process lives. `handle`: the
// program's of the stream, 0 of a default stream, kAllStreamHandles of a wait for the device.
struct Listener {
  void (*work)(const Activity& activity, uint64_t handle) = nullptr;
  void (*memory)(const MemoryActivity& activity) = nullptr;
  void (*synchronize)(const Synchronization& synchronization, uint64_t handle) = nullptr;
};
inline constexpr uint64_t kAllStreamHandles = ~uint64_t{0};

}  // namespace vramscope::emulated
