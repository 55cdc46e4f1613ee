// The GPU activities and API calls that the platform reports to its CUPTI (recorder.h) and to
// programs that plan in their own process (vramscope_emulated_listen). Such a program includes no
// other header of the platform. Plain values; pointers to text are valid until the process ends.
#pragma once

#include <cstdint>

namespace vramscope::emulated {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

enum class ActivityKind { kKernel, kCopy, kFill };
enum class Place { kUnknown, kPageable, kPinned, kDevice, kManaged };

// The API call. A library call counts as the launch of one kernel.
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
  kDriverMemAllocManaged,
  kDriverMemHostAlloc,
  kDriverMemFreeHost,
  kStreamSynchronize,
  kDeviceSynchronize,
  kEventSynchronize,
};

// How a kernel, memcpy or memset uses the memory at an address.
enum class Use : uint8_t { kUnknown = 0, kRead = 1, kWritten = 2, kBoth = 3 };
struct Operand {
  uint64_t address = 0;
  Use use = Use::kUnknown;
};

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  const char* name = "";  // mangled; for a library's call "cublasSgemm_v2 (modelled)"
  int device = 0;
  uint64_t stream = 0;  // id of the stream
  int64_t start_ns = 0, end_ns = 0;
  uint64_t bytes = 0;
  Dim grid = {}, block = {};
  uint64_t dynamic_shared = 0, static_shared = 0;
  int registers = 0;
  Place from = Place::kUnknown, to = Place::kUnknown;
  Call call = Call::kLaunchKernel;
  // Whether this is the first activity of its call. The launch of a graph causes many activities.
  bool first = true;
  bool waits = false;  // the call returned when the work was done
  // The begin and the end of the API call in the host's virtual time.
  int64_t call_begin_ns = 0, call_end_ns = 0;
  // Set only while a recorder is called, and only if it requested operands (recorder.h). Each
  // address occurs once.
  const Operand* operands = nullptr;
  uint32_t operand_count = 0;
  // The result of CountRequests when the work was submitted or, in a graph, captured.
  uint64_t requests = 0;
};

struct MemoryActivity {
  Call call = Call::kMalloc;
  bool allocated = true;
  bool first = true;  // first activity of its call; cuMemSetAccess may cover many allocations
  Place place = Place::kDevice;
  uint64_t address = 0, bytes = 0;  // bytes 0: the size of freed memory is unknown
  int device = 0;
  int64_t begin_ns = 0, end_ns = 0;
  const void* caller = nullptr;  // address in the code that made the call; null: unknown
};

struct Synchronization {
  Call call = Call::kDeviceSynchronize;
  int device = 0;
  uint64_t stream = 0;  // 0: the whole device
  int64_t begin_ns = 0, end_ns = 0;
};

// The times of a repeated move of the clock (vramscope_emulated_repeat): the begin and end of the
// work, then the begin and end of the host's call. For a wait, both intervals are equal.
struct RepeatedMove {
  int64_t start_ns = 0, end_ns = 0;
  int64_t call_begin_ns = 0, call_end_ns = 0;
};

// Called from any thread, without locks held, until the process ends. `handle` is the program's
// handle of the stream: 0 for a default stream, kAllStreamHandles for a wait for the device.
struct Listener {
  void (*work)(const Activity& activity, uint64_t handle) = nullptr;
  void (*memory)(const MemoryActivity& activity) = nullptr;
  void (*synchronize)(const Synchronization& synchronization, uint64_t handle) = nullptr;
};
inline constexpr uint64_t kAllStreamHandles = ~uint64_t{0};

}  // namespace vramscope::emulated
