// The recorded events of one micro-batch, kept so that they can be repeated. If nothing is
// computed, a later micro-batch that starts from the same state makes the same allocations in the
// same order, so it need not be executed. Sizes, names, categories and order come from the tape.
// Addresses, segments and allocation ids are new each time the tape is played.
//
//   Tape tape;
//   recorder.BeginTape(&tape);  ...  recorder.EndTape();
//   if (tape.Check(ids_of_gradients)) the backend may play it
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profiler/trace/activities.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer {

// A move of the clock (Recorder::OnMove) that happened before the event `first`.
struct TapeWork {
  size_t first = 0;
  int move = 0;
  int64_t duration_ns = 0;
  // The device work of the move, if it was reported (Recorder::OnDeviceWork). Its times and
  // correlation are new each time the tape is played. Only kind and name of `call` are used.
  bool reported = false;
  bool waits = false;
  trace::Activity what, call;
};

struct Tape {
  // Contains no segment and out-of-memory events, because the allocator produces these again.
  std::vector<trace::Event> events;
  uint64_t first_allocation = 0, end_allocation = 0;  // range of the ids assigned during recording
  // The `frees` frees that begin at event `first` occurred together, in order of address.
  struct Sorted {
    size_t first = 0;
    size_t frees = 0;
  };
  std::vector<Sorted> sorted;
  std::vector<TapeWork> works;
  std::vector<bool> skipped;  // indexed by allocation; true: a workspace that remains

  // Returns whether the tape can be played: it changes no older allocation, and at its end only
  // workspaces and `kept` (ascending ids) are still allocated. Fills `skipped`.
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
