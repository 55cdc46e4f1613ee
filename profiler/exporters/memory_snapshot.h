// A trace as a CUDA memory snapshot: the pickle that torch.cuda.memory._dump_snapshot() writes, for
// `python -m torch.cuda._memory_viz`, MemoryViz.js and everything else that reads those.
//
//   RETURN_IF_ERROR(WriteSnapshot(*trace, out, {}));
//
// What is in it:
//   - segments: what is alive at the end, with blocks (free ones too), owners' stacks and category;
//   - device_traces: one list a device; only what happened after kMarkerRecordingBegin, where the
//     trace has it: what was there before is in the segments, as in a recorded file;
//   - external_annotations: annotations of a recorded file; of a run of our own its steps, phases
//     and micro-batches: `ProfilerStep#N`, `## forward ##`, `micro-batch 0`. What inference found
//     is not written as if it had been said;
//   - allocator_settings from the trace's PYTORCH_CUDA_ALLOC_CONF;
//   - categories: the names below, and `category` (one of them) in every alloc and live block, and
//     in the free of a block older than the recording: the one it held for most of its life. Where
//     it changes, PyTorch's entry for what is learnt of a block later, `annotate`, says so in
//     `category` and, for people, in `user_metadata`: "temporary -> gradient"; one right after the
//     alloc, or the first one for blocks older than the recording, says what the block was made as
//     (was when it began). Changes that inference found are not written;
//   - frames: the recorded stacks. Of a run of our own, which has none: the operator, "in the
//     file" of its module's path, and below it one frame a module outwards, so that a flame graph
//     folds by module;
//   - vramscope: {version: 1, producer, inferred}. inferred: the categories are conclusions, all of
//     them; a reader that can conclude does it again. Else they are what is known of the blocks:
//     one that is called "unknown" stays so.
//
// Names of categories are PyTorch's own where it has them (torch.profiler's memory categories).
// Times are whole microseconds; of a run of our own, an event that shares its microsecond with a
// step's or phase's boundary is moved past it, so that it stays on its side.
//
// Protocol 4, in one pass; memory for the shared strings, frames and stacks only. Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <functional>
#include <ostream>
#include <string_view>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct SnapshotOptions {
  bool categories = true;
  bool annotations = true;
  std::function<void(double fraction)> progress = {};  // on the calling thread
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
};

// Errors: kInvalidArgument where a size is beyond what readers take (trace/snapshot_limits.h);
// kDataLoss when `out` refuses the bytes (full disk); kCancelled.
absl::Status WriteSnapshot(const trace::Trace& trace, std::ostream& out,
                           const SnapshotOptions& options = {});

// "optimizer_state": a category as snapshots spell it.
std::string_view SnapshotName(trace::Category category);

}  // namespace vramscope::exporters
