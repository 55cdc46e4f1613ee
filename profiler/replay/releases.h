// Finds when a recording released memory to the device, and why. Either the program called
// torch.cuda.empty_cache(), or an allocation did not fit, so the allocator released its cache and
// tried again. No file states how much memory the GPU had for segments. It is inferred from
// allocations that did not fit.
//
//   const Releases r = FindReleases(trace);
//   r.gpu_full;   // 39: "flushed 39 times because the GPU was full"
//   r.capacity.bytes;  // the inferred memory of the GPU
//
// Requires a trace of one device (trace/one_device.h). Pure functions of an immutable Trace;
// thread-safe. FindReleases() walks over the events once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

// Memory that was released together, in consecutive allocator events of the device.
struct Release {
  enum class Cause : uint8_t {
    kEmptyCache,  // the program called empty_cache()
    kGpuFull,     // an allocation did not fit
    kCollection,  // released a part of the cache: garbage collection, or a private pool
  };
  enum class Evidence : uint8_t {
    kStack,            // the call stacks show the cause
    kNothingAsked,     // no request for memory from the driver followed
    kCacheWouldServe,  // released blocks would have served the next allocation
    kRoom,             // the device had enough memory: clearly more was reserved at another time
    kNoRoom,           // reserved plus requested bytes are near or above the most ever reserved
    kRanOut,           // the allocation failed in spite of the release
    kPart,             // some free segments were not released
    kLimit,            // judged by the limit that a plan states
  };
  Cause cause = Cause::kEmptyCache;
  Evidence evidence = Evidence::kNothingAsked;
  trace::EventIndex first = 0, last = 0;  // its first and last events
  uint64_t bytes = 0, count = 0;          // released bytes; released segments and ranges of pages
  uint64_t reserved = 0;                  // reserved bytes before the release
  uint64_t asked = 0;                     // bytes requested right after the release
  std::vector<uint32_t> mempools = {};    // private pools that released something
  bool of_default_pool = false;           // whether the default pool released something
  bool part = false;                      // some free segments of the default pool were kept
  // For kGpuFull: whether a model with the limit `Releases::capacity` releases memory here, too.
  bool at_limit = false;
};
std::string_view Name(Release::Cause cause);        // "empty_cache"
std::string_view Name(Release::Evidence evidence);  // "call stack"

// The memory that a device has for segments.
struct Capacity {
  enum class Source : uint8_t {
    kUnknown,
    kStated,       // stated by a plan: device memory without the CUDA context
    kOutOfMemory,  // reserved plus free bytes when an allocation failed
    kReleases,     // releases with the cause kGpuFull
  };
  Source source = Source::kUnknown;
  uint64_t bytes = 0;      // the size that what-ifs use; 0: unknown
  uint64_t at_least = 0;   // the maximum reserved memory: the device has at least this
  uint64_t less_than = 0;  // the lowest total that did not fit; 0: none
  uint64_t seen = 0;       // number of releases or failed allocations used as evidence
  bool inferred() const { return source == Source::kOutOfMemory || source == Source::kReleases; }
  std::string evidence;  // "inferred ...", one translated sentence; "" if unknown
};
std::string_view Name(Capacity::Source source);  // "releases"

struct Releases {
  std::vector<Release> all;  // in order of their events
  uint64_t empty_cache_calls = 0, gpu_full = 0, collections = 0;
  Capacity capacity;
  // For example, "The allocator flushed its cache 39 times because the GPU was full. empty_cache()
  // was called twice."; or "" if nothing was released.
  std::string headline;
};
// `conf`: the settings of the run. If it is not given, the file's settings are used.
Releases FindReleases(const trace::Trace& trace, const std::optional<run::AllocConf>& conf = {});

// Returns whether the file has a history of the device's memory, not just the state at one time. It
// has one if an allocator event follows the beginning of the recording.
bool HasHistory(const trace::Trace& trace);

}  // namespace vramscope::replay
