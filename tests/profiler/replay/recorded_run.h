// Runs a sequence of allocations on the allocator model. Returns a trace of the whole run, or a
// recording of its last part. Such a recording begins with a snapshot of the earlier state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

// One action of a program. The actions are the same under all allocator settings.
struct Action {
  enum Kind { kMalloc, kFree, kRequestFree, kCompleteFree, kEmptyCache } kind = kMalloc;
  uint32_t allocation = 0;
  uint64_t bytes = 0;
  uint32_t stream = 0;
  uint32_t mempool = 0;
};

struct ProgramOptions {
  uint64_t seed = 1;
  int actions = 4000;
  size_t live = 120;  // approximate number of live blocks
  uint32_t streams = 2;
  int deferred = 10;      // deferred frees per 100 frees
  int empty_caches = 20;  // calls of empty_cache() per 10,000 actions
  uint32_t mempools = 1;
  uint64_t largest = 24 << 20;
};
std::vector<Action> MakeProgram(const ProgramOptions& options);

struct RunOptions {
  std::string conf = {};
  uint64_t device_memory_bytes = 0;
  // If `plan`, allocations beyond the limit succeed. Otherwise, such an allocation fails and the
  // run continues without it, like a program that catches the error.
  bool plan = false;
  int first_action = 0;  // the recording begins with this action; 0 for a plan
};

struct RecordedRun {
  std::shared_ptr<const trace::Trace> trace;
  allocator::Stats stats;            // counters of the whole run
  std::vector<trace::Event> events;  // events of the whole run
  std::vector<Action> seen;  // the program without calls of empty_cache() that have no effect
  // For each event, whether it released memory (kSegmentFree, kSegmentUnmap) because the program
  // called empty_cache(). Only for whole runs.
  std::vector<bool> by_program;
  // The true block sizes of the trace's older allocations, by row.
  std::vector<uint64_t> older_block_bytes;
};
// Merges two whole runs into a trace of two devices. Interleaves their events at random.
std::shared_ptr<const trace::Trace> Interleaved(const RecordedRun& first, const RecordedRun& second,
                                                uint64_t seed);
RecordedRun RunProgram(const std::vector<Action>& program, const RunOptions& options);

}  // namespace vramscope::replay
