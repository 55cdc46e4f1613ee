// Writes a trace as a CUDA memory snapshot: the pickle that torch.cuda.memory._dump_snapshot()
// writes, for `python -m torch.cuda._memory_viz`, MemoryViz.js and other readers.
//
//   RETURN_IF_ERROR(WriteSnapshot(*trace, out, {}));
//
// Contents:
//  - segments: the state at the end, with all blocks (free ones too), their stacks and categories;
//  - device_traces: one list of events per device. If the trace has kMarkerRecordingBegin, the
//    lists begin after it. Earlier blocks are then only in the segments, as in a recorded file;
//  - external_annotations: the annotations of a recorded file, or the steps, phases and
//    micro-batches of vramscope's own run: `ProfilerStep#N`, `## forward ##`, `micro-batch 0`.
//    Inferred steps and phases are not written;
//  - allocator_settings from the trace's PYTORCH_CUDA_ALLOC_CONF;
//  - categories: the list of names. Every alloc, every live block, and every free of a block older
//    than the recording has a `category`: the one that the block had for the longest time. Each
//    change is an entry `annotate` with the new `category` and a readable `user_metadata`:
//    "temporary -> gradient". An `annotate` right after the alloc has the category at the
//    allocation. For older blocks, the first `annotate` has the category at the beginning of the
//    recording. Inferred changes are not written;
//  - frames: the recorded stacks. vramscope's own runs have no stacks: their innermost frame is the
//    operator (its file is the module's path), and the outer frames are the enclosing modules. Thus
//    a flame graph groups by module;
//  - vramscope: {version: 1, producer, inferred}. `inferred` is true if all categories are
//    inferred: vramscope then infers them again when it reads the file. If it is false, the
//    categories are known, and a block called "unknown" stays unknown.
//
// Names of categories are PyTorch's own where they exist (torch.profiler's memory categories).
// Times are whole microseconds. In vramscope's own runs they are rounded such that no event moves
// past the begin or end of a step or phase.
//
// The pickle (protocol 4) is written in one pass. Only shared strings, frames and stacks are kept.
// Thread-safe.
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
  std::function<void(double fraction)> progress = {};  // called on the calling thread
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
};

// Errors: kInvalidArgument if a size is above the readers' limits (trace/snapshot_limits.h);
// kDataLoss if `out` cannot write the bytes (full disk); kCancelled.
absl::Status WriteSnapshot(const trace::Trace& trace, std::ostream& out,
                           const SnapshotOptions& options = {});

// The name of a category in snapshots: "optimizer_state".
std::string_view SnapshotName(trace::Category category);

}  // namespace vramscope::exporters
