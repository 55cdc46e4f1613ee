// When a recording released memory to the device, and why: the program called
// torch.cuda.empty_cache(), or an allocation did not fit and the allocator released its cache
// before it tried again. The latter show how much memory the GPU had for segments, which no file
// states.
//
//   const Releases r = FindReleases(trace);
//   r.gpu_full;   // 39: "flushed 39 times because the GPU was full"
//   r.capacity.bytes;  // inferred from them
//
// Requires a trace of one device (trace/one_device.h). Pure functions of an immutable Trace;
// thread-safe. They walk over the events once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

// Memory that was released at once: release events of the device with none of its other allocator
// events in between.
struct Release {
  enum class Cause : uint8_t {
    kEmptyCache,  // the program requested it
    kGpuFull,     // an allocation did not fit
    kCollection,  // only a part: garbage_collection_threshold, or a private pool was released
  };
  enum class Evidence : uint8_t {
    kStack,            // the call stacks show it
    kNothingAsked,     // no request to the driver followed
    kCacheWouldServe,  // the released memory would have served the next allocation
    kRoom,             // there was room: more was reserved at another time
    kNoRoom,           // the requested bytes would have exceeded what was ever reserved
    kRanOut,           // the allocation failed even after the release
    kPart,             // some free segments were not released
    kLimit,            // the limit of a plan was reached
  };
  Cause cause = Cause::kEmptyCache;
  Evidence evidence = Evidence::kNothingAsked;
  trace::EventIndex first = 0, last = 0;  // its first and last event
  uint64_t bytes = 0, count = 0;          // released bytes; released segments and ranges of pages
  uint64_t reserved = 0;                  // bytes before the release
  uint64_t asked = 0;                     // bytes requested from the driver directly after it
  std::vector<uint32_t> mempools = {};    // private pools that released something
  bool of_default_pool = false;           // whether the default pool released something
  bool part = false;                      // free segments of the default pool were not released
  // For kGpuFull: the limit `Releases::capacity` alone makes the model release memory here.
  bool at_limit = false;
};
std::string_view Name(Release::Cause cause);        // "empty_cache"
std::string_view Name(Release::Evidence evidence);  // "call stack"

// The memory that a device has for segments.
struct Capacity {
  enum class Source : uint8_t {
    kUnknown,
    kStated,       // of a plan: the device's memory without the CUDA context
    kOutOfMemory,  // reserved plus free when an allocation failed
    kReleases,     // allocations that did not fit at first
  };
  Source source = Source::kUnknown;
  uint64_t bytes = 0;      // the size to compute with; 0: unknown
  uint64_t at_least = 0;   // the device has at least this much, because it was reserved
  uint64_t less_than = 0;  // this much did not fit; 0: never observed
  uint64_t seen = 0;       // number of releases or failed allocations that show it
  bool inferred() const { return source == Source::kOutOfMemory || source == Source::kReleases; }
  std::string evidence;  // "inferred: ...", one sentence; "" if unknown
};
std::string_view Name(Capacity::Source source);  // "releases"

struct Releases {
  std::vector<Release> all;  // in order of their events
  uint64_t empty_cache_calls = 0, gpu_full = 0, collections = 0;
  Capacity capacity;
  // "The allocator flushed its cache 39 times because the GPU was full. empty_cache() was called
  // twice."; "" if nothing was released.
  std::string headline;
};
// `conf`: the settings of the run; if not given, those in the file.
Releases FindReleases(const trace::Trace& trace, const std::optional<run::AllocConf>& conf = {});

// Whether the file has a history of the device's memory, and not only a state at one time: some
// allocator event follows the beginning of the recording.
bool HasHistory(const trace::Trace& trace);

}  // namespace vramscope::replay
