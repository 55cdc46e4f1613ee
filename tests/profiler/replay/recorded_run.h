// A program that allocates memory, run under the allocator model. The result is a trace from its
// first allocation, or a recording of its last part, which describes the state before only as a
// snapshot does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

// The actions of a program, the same under all settings.
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
  int deferred = 10;      // per 100 frees
  int empty_caches = 20;  // per 10,000 actions
  uint32_t mempools = 1;
  uint64_t largest = 24 << 20;
};
std::vector<Action> MakeProgram(const ProgramOptions& options);

struct RunOptions {
  std::string conf = {};
  uint64_t device_memory_bytes = 0;
  // A plan continues beyond the limit. Otherwise an allocation that finds no memory is dropped, as
  // by a program that catches the error.
  bool plan = false;
  int first_action = 0;  // the recording begins with this action; 0 for a plan
};

struct RecordedRun {
  std::shared_ptr<const trace::Trace> trace;
  allocator::Stats stats;            // of the whole run
  std::vector<trace::Event> events;  // of the whole run
  std::vector<Action> seen;  // the program without calls of empty_cache() that have no effect
  // For each event that released memory (kSegmentFree, kSegmentUnmap) of a whole run: whether the
  // program had called empty_cache().
  std::vector<bool> by_program;
  // By row: the true block sizes of the trace's older allocations.
  std::vector<uint64_t> older_block_bytes;
};
// Two whole runs as one trace of two devices, their events interleaved at random.
std::shared_ptr<const trace::Trace> Interleaved(const RecordedRun& first, const RecordedRun& second,
                                                uint64_t seed);
RecordedRun RunProgram(const std::vector<Action>& program, const RunOptions& options);

}  // namespace vramscope::replay
