// Replays a recording and compares each choice of the allocator. Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/replay/replay.h"

namespace vramscope::replay {

// `conf`: the settings of the recording. Stops comparing after `most_differences` differences,
// because each of them costs a pass over the trace.
absl::StatusOr<Replayed> ReplayExactly(const trace::Trace& trace, const ReplayOptions& options,
                                       const run::AllocConf& conf, uint64_t most_differences);
absl::StatusOr<Replayed> ReplayWhatIf(const trace::Trace& trace, const ReplayOptions& options,
                                      const run::AllocConf& conf);

// Sets out.largest_hole and out.stranded_bytes. Reads out.conf.
void MeasureHoles(const allocator::CachingAllocator& model, Replayed& out);

}  // namespace vramscope::replay
