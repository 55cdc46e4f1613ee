// The recorded events of one micro-batch, which can be repeated. If nothing is computed, a later
// micro-batch that begins in the same state makes the same allocations in the same order, so it
// need not be executed. Sizes, names, categories and order come from the tape. Addresses, segments
// and ids of allocations are new each time it is played.
//
//   Tape tape;
//   recorder.BeginTape(&tape);  ...  recorder.EndTape();
//   if (tape.Check(ids_of_gradients)) ...   // the backend may play it
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profiler/trace/activities.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer {

// A move of the clock (Recorder::OnMove) that precedes the event with index `first`.
struct TapeWork {
  size_t first = 0;
  int move = 0;
  int64_t duration_ns = 0;
  // Whether work of the device that belongs to the move was reported (Recorder::OnDeviceWork). If
  // so, the members below describe the work. When played, it gets new times and a new correlation.
  // Only kind and name of `call` are used.
  bool reported = false;
  bool waits = false;
  trace::Activity what, call;
};

struct Tape {
  // Does not contain segment and out-of-memory events, because the allocator reports them again.
  std::vector<trace::Event> events;
  uint64_t first_allocation = 0, end_allocation = 0;  // range of the ids assigned during recording
  // Says that `frees` frees, beginning with event `first`, were made together, in address order.
  struct Sorted {
    size_t first = 0;
    size_t frees = 0;
  };
  std::vector<Sorted> sorted;
  std::vector<TapeWork> works;
  std::vector<bool> skipped;  // indexed by allocation; true: a workspace that remains

  // Returns whether the tape can be played. The tape must not change older allocations, and only
  // workspaces and `kept` (ascending ids) may be left at its end. Fills `skipped`.
  bool Check(const std::vector<uint64_t>& kept) {
    using trace::EventKind;
    skipped.assign(end_allocation - first_allocation, false);
    std::vector<bool> freed(skipped.size()), workspace(skipped.size());
    for (const trace::Event& e : events) {
      const bool of_allocation = e.kind == EventKind::kAlloc || e.kind == EventKind::kRetag ||
                                 e.kind == EventKind::kFreeRequested ||
                                 e.kind == EventKind::kFreeCompleted;
      if (!of_allocation) continue;
      if (e.id < first_allocation || e.id >= end_allocation) return false;
      const size_t i = e.id - first_allocation;
      if (e.kind == EventKind::kAlloc) workspace[i] = e.category == trace::Category::kWorkspace;
      if (e.kind == EventKind::kFreeCompleted) freed[i] = true;
    }
    for (size_t i = 0; i < freed.size(); ++i) {
      if (freed[i]) continue;
      if (workspace[i])
        skipped[i] = true;
      else if (!std::binary_search(kept.begin(), kept.end(), first_allocation + i))
        return false;
    }
    return true;
  }
};

}  // namespace vramscope::trainer
