// Writes a trace as a CUDA memory snapshot: the pickle that torch.cuda.memory._dump_snapshot()
// writes, for `python -m torch.cuda._memory_viz`, MemoryViz.js and other readers.
//
//   RETURN_IF_ERROR(WriteSnapshot(*trace, out, {}));
//
// Contents:
//  - segments: the state at the end, with all blocks (free ones too), their stacks and categories;
//  - device_traces: one list per device, with the events after kMarkerRecordingBegin if the trace
//    has this marker. As in a recorded file, earlier state is in the segments;
//  - external_annotations: the annotations of a recorded file, or the steps, phases and
//    micro-batches of vramscope's own run: `ProfilerStep#N`, `## forward ##`, `micro-batch 0`.
//    Inferred steps and phases are not written;
//  - allocator_settings from the trace's PYTORCH_CUDA_ALLOC_CONF;
//  - categories: the list of names. Every alloc and live block, and the free of every block older
//    than the recording, has a `category`: the category that the block had for most of its life. A
//    change is written as PyTorch's `annotate` entry, with the new `category` and a readable
//    `user_metadata`: "temporary -> gradient". An `annotate` right after the alloc contains the
//    category at the allocation; the first `annotate` of a block older than the recording contains
//    the category when the recording begins. Inferred changes are not written;
//  - frames: the recorded stacks. For vramscope's own runs, which have none, the innermost frame is
//    the operator with its module's path as file, and the outer frames are the enclosing modules,
//    so that a flame graph groups by module;
//  - vramscope: {version: 1, producer, inferred}. `inferred` is true if all categories are
//    inferred; a reader that can infer them then does so again. Otherwise categories are known, and
//    a block called "unknown" stays unknown.
//
// Names of categories are PyTorch's own where they exist (torch.profiler's memory categories).
// Times are whole microseconds. In vramscope's own runs, an event in the same microsecond as the
// boundary of a step or phase is moved so that rounding does not move it past the boundary.
//
// Protocol 4, written in one pass; needs memory only for shared strings, frames and stacks.
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
