// When memory went back to the device in a recording, and why: the program called
// torch.cuda.empty_cache(), or a request did not fit and the allocator gave its cache back before
// it asked once more. The latter tell how much the card had for segments, which no file states.
//
//   const Releases r = FindReleases(trace);
//   r.card_full;   // 39: "flushed 39 times because the card was full"
//   r.card.bytes;  // inferred from them
//
// Of one device (trace/one_device.h). Pure functions of an immutable Trace; thread-safe. One walk
// over the events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

// Memory that went back at once: give-backs of the device with no other allocator event of it in
// between.
struct Release {
  enum class Cause : uint8_t {
    kEmptyCache,  // the program asked for it
    kCardFull,    // a request did not fit
    kCollection,  // a part alone: garbage_collection_threshold, or a private pool was given up
  };
  enum class Evidence : uint8_t {
    kStack,            // the call stacks say so
    kNothingAsked,     // no request to the driver followed
    kCacheWouldServe,  // what went back would have served the request that followed
    kRoom,             // there was room: more was reserved at another time
    kNoRoom,           // with what was asked for it would have been more than was ever reserved
    kRanOut,           // and even so the request failed
    kPart,             // free segments stayed behind
    kLimit,            // the limit of a planned run
  };
  Cause cause = Cause::kEmptyCache;
  Evidence evidence = Evidence::kNothingAsked;
  trace::EventIndex first = 0, last = 0;  // its give-backs
  uint64_t bytes = 0, count = 0;          // that went back: segments, or ranges of pages
  uint64_t reserved = 0;                  // before
  uint64_t asked = 0;                     // of the driver right after it; 0: nothing
  std::vector<uint32_t> mempools = {};    // private pools that gave something back
  bool of_default_pool = false;           // so did the default pool
  bool part = false;                      // free segments of the default pool stayed
  // Of a full card: an allocator with `Releases::card` meets its limit here by itself.
  bool at_limit = false;
};
std::string_view Name(Release::Cause cause);        // "empty_cache"
std::string_view Name(Release::Evidence evidence);  // "call stack"

// What a device has for segments.
struct Card {
  enum class Source : uint8_t {
    kUnknown,
    kStated,       // of a plan: the device's memory without the context
    kOutOfMemory,  // what was reserved and free when a request failed
    kReleases,     // requests that did not fit at first
  };
  Source source = Source::kUnknown;
  uint64_t bytes = 0;      // to be reckoned with; 0: unknown
  uint64_t at_least = 0;   // that much was reserved
  uint64_t less_than = 0;  // that much did not fit; 0: never seen
  uint64_t seen = 0;       // releases, or failed requests, that say so
  bool inferred() const { return source == Source::kOutOfMemory || source == Source::kReleases; }
  std::string evidence;  // "inferred: ...", one sentence; "" when unknown
};
std::string_view Name(Card::Source source);  // "releases"

struct Releases {
  std::vector<Release> all;  // in order
  uint64_t empty_cache_calls = 0, card_full = 0, collections = 0;
  Card card;
  // "The allocator flushed its cache 39 times because the card was full. empty_cache() was called
  // twice."; "" when nothing went back.
  std::string headline;
};
// `conf`: the settings that it ran under; not given: those that the file states.
Releases FindReleases(const trace::Trace& trace, const std::optional<run::AllocConf>& conf = {});

// Whether the file tells what the device's memory went through, and not only what was there at one
// moment: some allocator event lies behind the beginning of the recording.
bool HasHistory(const trace::Trace& trace);

}  // namespace vramscope::replay
