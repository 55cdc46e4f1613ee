// An activity as producers pass it. Uses only plain types, for code that does not include the
// tables. activities.h explains activities and has the tables.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/trace/types.h"

namespace vramscope::trace {

// Values are part of the file format: add at the end, never renumber.
enum class ActivityKind : uint8_t {
  kKernel = 0,           // device, stream, name, correlation
  kMemcpy = 1,           // device, stream, bytes, from, to, correlation
  kMemset = 2,           // device, stream, bytes, to, correlation
  kSynchronization = 3,  // the host waits: thread, stream or kAllStreams, correlation
  kCollective = 4,       // device, stream, name, bytes, correlation
  kRuntimeCall = 5,      // thread, name ("cudaLaunchKernel"), correlation
  kDriverCall = 6,       // thread, name ("cuLaunchKernel"), correlation
  // cudaMalloc and similar calls: device, to, address, bytes, correlation; begin = end. The name is
  // the library that allocated. For host memory in plans, it is the line of Python code that
  // allocated: "/home/me/train.py:88 main".
  kDriverAlloc = 7,
  kDriverFree = 8,  // cudaFree and the like: fields of kDriverAlloc; bytes if known
  kOverhead = 9,    // time that the profiler itself takes: thread, name
  kRange = 10,      // thread, name: a range named by the program (NVTX)
  kCounter = 11,    // device, name; bytes: the value, valid from begin on
  kOperand = 12,    // device, stream, from, to, address, bytes, correlation (OperandTable)
};
inline constexpr int kActivityKindCount = 13;

enum class MemorySpace : uint8_t {
  kUnknown = 0,
  kDevice = 1,
  kPinned = 2,    // page-locked host memory
  kPageable = 3,  // host memory
  kManaged = 4,
  kDisk = 5,
};
inline constexpr int kMemorySpaceCount = 6;

inline constexpr uint32_t kAllStreams = UINT32_MAX;

std::string_view Name(ActivityKind);  // "kernel"
std::string_view Name(MemorySpace);   // "device"

// Whether the GPU does the work. If so, the activity belongs to a stream of a device; if not, to a
// thread of the host.
constexpr bool IsOfDevice(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kMemcpy ||
         kind == ActivityKind::kMemset || kind == ActivityKind::kCollective ||
         kind == ActivityKind::kCounter;
}

// Whether the activity has a device. An activity without one belongs to the process of its thread.
constexpr bool HasDevice(ActivityKind kind) {
  return IsOfDevice(kind) || kind == ActivityKind::kDriverAlloc ||
         kind == ActivityKind::kDriverFree || kind == ActivityKind::kOperand;
}

// One activity. ActivityKind above lists the fields that each kind uses.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  uint8_t device = 0;
  MemorySpace from = MemorySpace::kUnknown;
  MemorySpace to = MemorySpace::kUnknown;
  uint32_t stream = 0;
  uint32_t thread = 0;  // with the process in the upper bits (processes.h)
  StringId name = {};
  StringId op = {};          // the op that launched the activity, if known
  StringId module = {};      // the module that launched the activity, if known
  uint64_t correlation = 0;  // 0: none; with the process in the upper bits (processes.h)
  uint64_t address = 0;
  uint64_t bytes = 0;
  int64_t begin_ns = 0;  // on the clock of the events
  int64_t end_ns = 0;    // not before begin
  friend bool operator==(const Activity&, const Activity&) = default;
};

}  // namespace vramscope::trace
