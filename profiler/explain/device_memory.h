// Divides the memory that is used on a GPU at one time into parts: the allocator's blocks, its
// unused memory, memory that libraries allocated directly from the driver, the CUDA context, other
// processes, and an unexplained remainder. The parts add up to the used memory that NVML reports.
//
//   const DeviceMemoryHistory history(*trace);
//   const DeviceMemory m = history.At(event);
//   for (const DeviceMemory::Part& part : m.parts) Show(Name(part.what), part.bytes, part.about);
//
// The allocator's parts are exact at every event. NVML's figures are known only at the times of its
// queries (trace/device_counters.h). Parts that are computed from them stay constant until the next
// query. The trace must contain one device. Pure; thread-safe.
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
    kRequested,       // requested sizes of the allocator's blocks
    kBlocks,          // replaces kRequested and kRounding if requested sizes are not recorded
    kRounding,        // block sizes minus requested sizes
    kHoles,           // inactive splits: free blocks in segments that hold live blocks
    kCached,          // memory that empty_cache() would release
    kUnplaced,        // reserved but not allocated, if the trace does not record segments
    kLibraries,       // allocated from the driver, bypassing the allocator
    kCommunication,   // allocated from the driver by NCCL
    kContext,         // the CUDA context
    kOtherProcesses,  // memory of other processes on the same GPU
    kDriver,          // reserved by the driver and the firmware
    kRemainder,       // NVML's figure minus the parts above; may be negative
  };
  enum class Source : uint8_t { kMeasured, kModelled, kAssumed };
  struct Part {
    What what = What::kRequested;
    Source source = Source::kMeasured;
    int64_t bytes = 0;
    std::string about;  // source of the figure: a sentence without a full stop
  };

  uint8_t device = 0;
  bool of_host = false;  // the trace is of the host's memory and not of a GPU's
  analysis::Context context;
  uint64_t total = 0;  // the GPU's memory; 0: not known
  int64_t used = 0;    // the sum of all parts
  // The time of the NVML query that the figures are from, or nullopt if there was no query yet.
  std::optional<int64_t> asked_ns;
  // In the order of What, without parts of 0 bytes. If NVML was queried, there always is a
  // remainder.
  std::vector<Part> parts;

  const Part* Of(What what) const;  // null: there is no such part
};

std::string_view Name(DeviceMemory::What what);      // "holes between blocks"
std::string_view Name(DeviceMemory::Source source);  // "measured"

class DeviceMemoryHistory {
 public:
  // Reads every activity once. The trace must outlive this object.
  explicit DeviceMemoryHistory(const trace::Trace& trace);
  // Returns the state directly after an event. An index after the end means the last event.
  DeviceMemory At(trace::EventIndex event) const;

 private:
  // What NVML returned for one query.
  struct Answer {
    int64_t time_ns = 0;
    std::optional<uint64_t> total, used, driver, process;
  };
  // The memory that was allocated directly from the driver.
  struct OutsideAllocator {
    uint64_t libraries = 0, communication = 0;
    std::map<std::string, uint64_t> by_library;  // "": library not known
  };
  OutsideAllocator OutsideAllocatorAt(int64_t time_ns) const;
  int64_t AccountedAt(int64_t time_ns) const;
  // Returns the bytes of this process, or of all processes if NVML reports only their sum.
  int64_t UsedBy(const Answer& answer) const;

  const trace::Trace& trace_;
  std::vector<uint32_t> taken_;  // rows of activities: the driver's allocations and frees
  std::vector<Answer> answers_;
  bool of_process_ = false;  // NVML reports each process separately
  int64_t context_ = 0;
};

}  // namespace vramscope::explain
