// A snapshot as JSON: the same dicts and lists as in the pickle, no memo. Internal.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string_view>

#include "profiler/importers/snapshot_builder.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

// Reads one value, into the builder. `head`: what has been taken from the input before. `tick` is
// called whenever more has been read. `cut`: the error is that the input ends before its time.
absl::Status ReadSnapshotJson(trace::InputStream& input, std::string_view head,
                              const std::function<absl::Status()>& tick, SnapshotBuilder& builder,
                              bool* cut);

}  // namespace vramscope::importers
