// What the memory of a card is used for at a moment, so that it adds up to what the card itself
// says: the allocator's blocks and what it keeps beside them, what libraries took past it, the CUDA
// context, other processes, and what nobody accounts for.
//
//   const DeviceMemoryHistory history(*trace);
//   const DeviceMemory m = history.At(event);
//   for (const DeviceMemory::Part& part : m.parts) Show(Name(part.what), part.bytes, part.about);
//
// The allocator's parts are exact at every event. What NVML says is known at the moments when it
// was asked (trace/device_counters.h); what follows from it is carried on to the next one. Of a
// trace of one device. Pure; thread-safe.
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
    kRequested,       // allocator: asked for
    kBlocks,          // its blocks, where requested sizes are not recorded
    kRounding,        // in its blocks, beyond what was asked for
    kHoles,           // free, in segments that live blocks hold
    kCached,          // wholly free: empty_cache() would give it back
    kUnplaced,        // reserved and free, where the trace does not say in which segments
    kLibraries,       // taken from the driver past the allocator
    kCommunication,   // the same by NCCL
    kContext,         // of CUDA
    kOtherProcesses,  // on the same card
    kDriver,          // what driver and firmware keep for themselves
    kRemainder,       // NVML's figure less all of the above; may be negative
  };
  enum class Source : uint8_t { kMeasured, kModelled, kAssumed };
  struct Part {
    What what = What::kRequested;
    Source source = Source::kMeasured;
    int64_t bytes = 0;
    std::string about;  // where the figure is from, a sentence without a full stop
  };

  uint8_t device = 0;
  analysis::Context context;
  uint64_t total = 0;  // of the card; 0: not known
  int64_t used = 0;    // the sum of all parts
  // When NVML was asked for what is said of this moment; nothing: it never was.
  std::optional<int64_t> asked_ns;
  // In the order of What; those that are nothing are left out, but for the remainder, which is
  // there whenever NVML was asked.
  std::vector<Part> parts;

  const Part* Of(What what) const;  // null: nothing
};

std::string_view Name(DeviceMemory::What what);      // "holes in segments"
std::string_view Name(DeviceMemory::Source source);  // "measured"

class DeviceMemoryHistory {
 public:
  // Looks at every activity once; the trace must outlive this.
  explicit DeviceMemoryHistory(const trace::Trace& trace);
  // The moment right behind an event (the last, of a later one).
  DeviceMemory At(trace::EventIndex event) const;

 private:
  // What NVML said at one moment.
  struct Answer {
    int64_t time_ns = 0;
    std::optional<uint64_t> total, used, driver, process;
  };
  // What was taken from the driver past the allocator.
  struct Taken {
    uint64_t libraries = 0, communication = 0;
    std::map<std::string, uint64_t> by_library;  // "": not known which
  };
  Taken TakenAt(int64_t time_ns) const;
  int64_t AccountedAt(int64_t time_ns) const;
  // Of `answer`, what this process has, or all have where that is not told.
  int64_t UsedBy(const Answer& answer) const;

  const trace::Trace& trace_;
  std::vector<uint32_t> taken_;  // rows of activities: the driver's allocations and frees
  std::vector<Answer> answers_;
  bool of_process_ = false;  // NVML tells processes apart
  int64_t context_ = 0;
};

}  // namespace vramscope::explain
