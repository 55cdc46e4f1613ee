// What a GPU's memory is used for at one time. The parts add up to the usage that NVML reports: the
// allocator's blocks and its unused memory, memory that libraries allocated from the driver
// directly, the CUDA context, other processes, and a remainder that nothing accounts for.
//
//   const DeviceMemoryHistory history(*trace);
//   const DeviceMemory m = history.At(event);
//   for (const DeviceMemory::Part& part : m.parts) Show(Name(part.what), part.bytes, part.about);
//
// The allocator's parts are exact at every event. NVML's figures are known only at the times when
// NVML was queried (trace/device_counters.h); the parts derived from them keep their value until
// the next query. The trace must contain one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct DeviceMemory {
  enum class What : uint8_t {
    kRequested,       // allocator: requested sizes
    kBlocks,          // the allocator's blocks, where requested sizes are not recorded
    kRounding,        // in the allocator's blocks, beyond the requested size
    kHoles,           // inactive splits: free blocks in segments that hold live blocks
    kCached,          // cached: empty_cache() would release it
    kUnplaced,        // reserved and free, where the trace does not say in which segments
    kLibraries,       // allocated from the driver, bypassing the allocator
    kCommunication,   // the same, by NCCL
    kContext,         // the CUDA context
    kOtherProcesses,  // on the same GPU
    kDriver,          // reserved by the driver and the firmware
    kRemainder,       // NVML's figure less all of the above; may be negative
  };
  enum class Source : uint8_t { kMeasured, kModelled, kAssumed };
  struct Part {
    What what = What::kRequested;
    Source source = Source::kMeasured;
    int64_t bytes = 0;
    std::string about;  // source of the figure: a sentence without a full stop
  };

  uint8_t device = 0;
  analysis::Context context;
  uint64_t total = 0;  // of the GPU; 0: not known
  int64_t used = 0;    // the sum of all parts
  // Time of the NVML query that the figures are based on; nullopt: NVML was never queried.
  std::optional<int64_t> asked_ns;
  // In the order of What. Parts of 0 bytes are left out, except the remainder, which is present
  // whenever NVML was queried.
  std::vector<Part> parts;

  const Part* Of(What what) const;  // null: there is no such part
};

std::string_view Name(DeviceMemory::What what);      // "holes in segments"
std::string_view Name(DeviceMemory::Source source);  // "measured"

class DeviceMemoryHistory {
 public:
  // Reads every activity once. The trace must outlive this object.
  explicit DeviceMemoryHistory(const trace::Trace& trace);
  // The state right after an event; an index past the end means the last event.
  DeviceMemory At(trace::EventIndex event) const;

 private:
  // The answer of NVML to one query.
  struct Answer {
    int64_t time_ns = 0;
    std::optional<uint64_t> total, used, driver, process;
  };
  // Memory allocated from the driver, bypassing the allocator.
  struct OutsideAllocator {
    uint64_t libraries = 0, communication = 0;
    std::map<std::string, uint64_t> by_library;  // "": library not known
  };
  OutsideAllocator OutsideAllocatorAt(int64_t time_ns) const;
  int64_t AccountedAt(int64_t time_ns) const;
  // Bytes used by this process, or by all processes where NVML does not tell them apart.
  int64_t UsedBy(const Answer& answer) const;

  const trace::Trace& trace_;
  std::vector<uint32_t> taken_;  // rows of activities: the driver's allocations and frees
  std::vector<Answer> answers_;
  bool of_process_ = false;  // NVML reports each process separately
  int64_t context_ = 0;
};

}  // namespace vramscope::explain
